package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// oneRequest holds that a cold call to a modern server is one HTTP request.
func (b *bench) oneRequest() error {
	if _, err := b.requests(); err != nil {
		return err
	}
	for _, side := range []struct {
		name string
		make maker
		want string
	}{
		{"mcpc", b.mcpc("call", "http", "echo", "text=hello", "--authority", "http.json"), "1"},
		{"SDK", b.sdk("call", b.small), ""},
	} {
		if _, err := output(side.make); err != nil {
			return err
		}
		got, err := b.requests()
		if err != nil {
			return err
		}
		fmt.Printf("%-28s%s requests\n", "call, HTTP, "+side.name, got)
		if side.want != "" && got != side.want {
			return fmt.Errorf("a cold call took %s HTTP requests", got)
		}
	}
	return nil
}

// requests returns how many requests the small server got since it was last asked.
func (b *bench) requests() (string, error) {
	resp, err := http.Get(strings.TrimSuffix(b.small, "/mcp") + "/count")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	count, err := io.ReadAll(resp.Body)
	return string(count), err
}

// oneLine holds that a cold call to a modern server is one line on its stdin.
func (b *bench) oneLine() error {
	log := filepath.Join(b.home, "methods")
	if err := os.Remove(log); err != nil {
		return err // the snapshot was taken through it
	}
	if _, err := output(b.mcpc("call", "counted", "echo", "text=hello", "--authority", "counted.json")); err != nil {
		return err
	}
	methods, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	fmt.Printf("%-28s%d line\n\n", "call, stdio, mcpc", bytes.Count(methods, []byte("\n")))
	if string(methods) != "tools/call\n" {
		return fmt.Errorf("a cold call took the messages %q", methods)
	}
	return nil
}

// output runs a command that has to succeed.
func output(m maker) ([]byte, error) {
	cmd := m()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w: %s", cmd.Args, err, stderr.Bytes())
	}
	return out, nil
}
