package store

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mcpc/internal/refusal"
)

func TestFindDirs(t *testing.T) {
	t.Parallel()
	home, other := t.TempDir(), t.TempDir()
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for _, p := range pairs {
				if v, ok := strings.CutPrefix(p, name+"="); ok {
					return v
				}
			}
			return ""
		}
	}
	all := Dirs{filepath.Join(other, "mcpc"), filepath.Join(home, "mcpc"), filepath.Join(other, "mcpc")}
	d, err := FindDirs(env("XDG_CONFIG_HOME="+other, "XDG_DATA_HOME="+home, "XDG_STATE_HOME="+other))
	if err != nil || d != all {
		t.Fatalf("%+v, %v", d, err)
	}
	if runtime.GOOS != "linux" {
		return // what follows is the specification's default, which other systems replace by their own
	}
	defaults := Dirs{
		filepath.Join(home, ".config/mcpc"), filepath.Join(home, ".local/share/mcpc"),
		filepath.Join(home, ".local/state/mcpc"),
	}
	for _, pairs := range [][]string{
		{"HOME=" + home},
		{"HOME=" + home, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_STATE_HOME="},
		{"HOME=" + home, "XDG_CONFIG_HOME=config", "XDG_DATA_HOME=./data", "XDG_STATE_HOME=~/state"}, // relative: ignored
	} {
		if d, err := FindDirs(env(pairs...)); err != nil || d != defaults {
			t.Errorf("%v: %+v, %v", pairs, d, err)
		}
	}
	for _, pairs := range [][]string{{}, {"HOME=relative"}, {"XDG_CONFIG_HOME=" + other}} {
		if d, err := FindDirs(env(pairs...)); !refusal.Is(err, refusal.ConfigHome) || d != (Dirs{}) {
			t.Errorf("%v: %+v, %v", pairs, d, err)
		}
	}
}
