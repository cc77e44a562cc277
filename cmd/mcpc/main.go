// Command mcpc is an MCP client in which what a server says is evidence and what a person wrote is permission.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)                            // a second signal ends mcpc at once
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a closed stdout is an error, after which children are ended
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	os.Exit(code)
}
