// Command run measures mcpc beside the smallest client on the official SDK, and beside an empty program on cobra.
//
// Both sides of a comparison run in turn, A B A B, in one go on one machine, so what it prints is read as ratios: the
// milliseconds belong to the machine. Peak memory is what the kernel says of the largest process; its floor is this
// program's own, some 10 MiB, which an exec inherits. mcpc is built as it is released, without cgo; the others as go
// build makes them. It fails when a cold call takes more than one message, and when time or memory grows faster than
// the number of tools.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	n := flag.Int("n", 40, "runs of each side of a small comparison; a fifth of it for the large ones")
	flag.Parse()
	if err := run(*n); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(n int) error {
	home, err := os.MkdirTemp("", "mcpc-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	b := &bench{home: home}
	defer b.stop()
	if err := b.prepare(); err != nil {
		return err
	}
	if err := errors.Join(b.oneRequest(), b.oneLine()); err != nil {
		return err
	}
	many := max(n/5, 3)
	fmt.Printf("%-28s%-6s%12s%12s%8s%8s\n", "", "", "mcpc", "other", "ratio", "wish")
	for _, c := range []comparison{
		{"call, HTTP, cold / SDK", b.mcpc("call", "http", "echo", "text=hello", "--json", "--authority", "http.json"), b.sdk("call", b.small), n, 1.0, 0},
		{"call, stdio, cold / SDK", b.mcpc("call", "stdio", "echo", "text=hello", "--json", "--authority", "stdio.json"), b.sdk("call", "./stdioserver"), n, 1.0, 0},
		{"10000 tools, HTTP / SDK", b.mcpc("discover", "big", "--json"), b.sdk("list", b.big), many, 0.5, 0.34},
		{"10000 tools, stdio / SDK", b.mcpc("discover", "bigstdio", "--json"), b.sdk("list", "./stdioserver", "-tools", "10000"), many, 0.5, 0.34},
		{"--help / empty cobra", b.mcpc("--help"), b.command("./emptycobra", "--help"), n, 1.3, 0},
	} {
		if err := c.measure(); err != nil {
			return err
		}
	}
	return b.scale(many)
}
