package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// bench is the prepared folder: programs, configuration, authority documents, and two servers that listen.
type bench struct {
	home       string
	small, big string // URLs
	servers    []*exec.Cmd
}

// xdg is where mcpc keeps its files; the folder beside it holds the programs.
func (b *bench) xdg() string { return filepath.Join(b.home, "xdg") }

// maker makes one fresh command; a command runs once.
type maker func() *exec.Cmd

func (b *bench) command(args ...string) maker {
	return func() *exec.Cmd {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = b.home
		cmd.Env = []string{
			"PATH=" + b.home, "HOME=" + b.home, "XDG_CONFIG_HOME=" + b.xdg(), "XDG_DATA_HOME=" + b.xdg(), "XDG_STATE_HOME=" + b.xdg(),
		}
		return cmd
	}
}

func (b *bench) mcpc(args ...string) maker { return b.command(append([]string{"./mcpc"}, args...)...) }

func (b *bench) sdk(args ...string) maker {
	return b.command(append([]string{"./sdkclient"}, args...)...)
}

// prepare builds everything, starts the servers, takes the snapshots and grants echo.
func (b *bench) prepare() error {
	if err := b.build(); err != nil {
		return err
	}
	var err error
	if b.small, err = b.serve("-tools", "10"); err != nil {
		return err
	}
	if b.big, err = b.serve("-tools", "10000"); err != nil {
		return err
	}
	config := fmt.Sprintf(`{"servers": {
		"http": {"http": {"url": %q}},
		"stdio": {"stdio": {"command": ["stdioserver"], "env": []}},
		"counted": {"stdio": {"command": ["stdioserver", "-log", "methods"], "env": []}},
		"big": {"http": {"url": %q}, "limits": {"tools": 10000}},
		"bigstdio": {"stdio": {"command": ["stdioserver", "-tools", "10000"], "env": []}, "limits": {"tools": 10000}}
	}}`, b.small, b.big)
	if err := os.MkdirAll(filepath.Join(b.xdg(), "mcpc"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.xdg(), "mcpc", "config.json"), []byte(config), 0o600); err != nil {
		return err
	}
	for _, server := range []string{"http", "stdio", "counted"} {
		if _, err := output(b.mcpc("snapshot", "take", server)); err != nil {
			return err
		}
		doc, err := output(b.mcpc("authority", "draft", server, "--tool", "echo", "--by", "bench"))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(b.home, server+".json"), doc, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// build makes mcpc as make build does, and the other programs as go build does.
func (b *bench) build() error {
	for _, c := range []struct {
		env      string
		programs []string
	}{
		{"CGO_ENABLED=0", []string{"./cmd/mcpc"}},
		{"", []string{"./testdata/bench/benchserver", "./testdata/bench/stdioserver", "./testdata/bench/sdkclient", "./testdata/bench/emptycobra"}},
	} {
		args := append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", b.home + "/"}, c.programs...)
		cmd := exec.Command("go", args...)
		cmd.Env, cmd.Stderr = append(os.Environ(), c.env), os.Stderr
		if err := cmd.Run(); err != nil {
			return err
		}
	}
	return nil
}

// serve starts an HTTP peer and returns its URL.
func (b *bench) serve(args ...string) (string, error) {
	cmd := b.command(append([]string{"./benchserver"}, args...)...)()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	b.servers = append(b.servers, cmd)
	line, err := bufio.NewReader(out).ReadString('\n')
	return strings.TrimSpace(line), err
}

func (b *bench) stop() {
	for len(b.servers) > 0 {
		b.stopLast()
	}
}

// stopLast ends the server that was started last.
func (b *bench) stopLast() {
	last := len(b.servers) - 1
	_ = b.servers[last].Process.Kill() // it keeps nothing that could be lost
	_ = b.servers[last].Wait()
	b.servers = b.servers[:last]
}
