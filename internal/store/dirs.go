package store

import (
	"path/filepath"

	"mcpc/internal/refusal"
)

// Dirs are mcpc's folders; none is created before something is written to it.
type Dirs struct {
	Config string // $XDG_CONFIG_HOME/mcpc
	Data   string // $XDG_DATA_HOME/mcpc
	State  string // $XDG_STATE_HOME/mcpc
}

// FindDirs derives the folders from an environment. A relative path in an XDG variable is ignored, as the XDG base
// directory specification says. The error is config.no_home.
func FindDirs(getenv func(string) string) (Dirs, error) {
	var d Dirs
	for _, f := range []struct {
		dir  *string
		name string
	}{{&d.Config, "XDG_CONFIG_HOME"}, {&d.Data, "XDG_DATA_HOME"}, {&d.State, "XDG_STATE_HOME"}} {
		base := getenv(f.name)
		if !filepath.IsAbs(base) {
			base = platformBase(f.name, getenv)
		}
		if !filepath.IsAbs(base) {
			return Dirs{}, refusal.New(refusal.ConfigHome, refusal.Own("name", f.name))
		}
		*f.dir = filepath.Join(base, "mcpc")
	}
	return d, nil
}

// ConfigFile returns where the servers file is.
func (d Dirs) ConfigFile() string { return filepath.Join(d.Config, "config.json") }

// Snapshots returns the folder of stored snapshots.
func (d Dirs) Snapshots() Snapshots { return Snapshots{filepath.Join(d.Data, "snapshots")} }
