package config

import (
	"maps"
	"slices"
	"strings"

	"mcpc/internal/refusal"
)

// Server returns the server of that name. Names are exact; one that is close is only suggested.
func (c *Config) Server(name string) (*Server, error) {
	if s, ok := c.Servers[name]; ok {
		return s, nil
	}
	fields := []refusal.Field{refusal.Own("name", name), refusal.Own("path", c.Path)}
	for _, n := range slices.Sorted(maps.Keys(c.Servers)) {
		if alike(name, n) {
			return nil, refusal.New(refusal.ConfigNoServer, append(fields, refusal.Own("near", n))...)
		}
	}
	return nil, refusal.New(refusal.ConfigNoServer, fields...)
}

// alike reports whether two names differ by case, by a cut-off end, or by one character more, less or other.
func alike(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) > len(b) {
		a, b = b, a
	}
	if strings.HasPrefix(b, a) && len(a) > 1 {
		return true
	}
	same := 0
	for same < len(a) && a[same] == b[same] {
		same++
	}
	if len(a) < 2 || len(b)-len(a) > 1 {
		return false
	}
	return strings.HasSuffix(b[same:], a[same:]) || a[min(same+1, len(a)):] == b[same+1:]
}
