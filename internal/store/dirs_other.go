//go:build !unix || darwin

package store

import "github.com/adrg/xdg"

// platformBase is where this system keeps such files: Application Support, or the local application data.
func platformBase(name string, _ func(string) string) string {
	return map[string]string{
		"XDG_CONFIG_HOME": xdg.ConfigHome, "XDG_DATA_HOME": xdg.DataHome, "XDG_STATE_HOME": xdg.StateHome,
	}[name]
}
