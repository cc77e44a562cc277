package config

import (
	"maps"
	"slices"
	"strings"

	"mcpc/internal/refusal"
	"mcpc/internal/spelling"
)

// Server returns the server of that name. Names are exact; one that is close is only suggested.
func (c *Config) Server(name string) (*Server, error) {
	if s, ok := c.Servers[name]; ok {
		return s, nil
	}
	fields := []refusal.Field{refusal.Own("name", name), refusal.Own("path", c.Path)}
	names := slices.Sorted(maps.Keys(c.Servers))
	near := spelling.Nearest(name, names)
	if i := slices.IndexFunc(names, func(n string) bool { return cutOff(name, n) }); near == "" && i >= 0 {
		near = names[i]
	}
	if near != "" {
		fields = append(fields, refusal.Own("near", near))
	}
	return nil, refusal.New(refusal.ConfigNoServer, fields...)
}

// cutOff reports whether one name is the beginning of the other; case makes no difference.
func cutOff(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) > 1 && strings.HasPrefix(b, a)
}
