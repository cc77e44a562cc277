//go:build unix && !darwin

package store

import "path/filepath"

// platformBase is what the specification gives where the variable is not set. The adrg/xdg library knows it too, but
// from the process environment alone, read once at its start.
func platformBase(name string, getenv func(string) string) string {
	return filepath.Join(getenv("HOME"), map[string]string{
		"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share", "XDG_STATE_HOME": ".local/state",
	}[name])
}
