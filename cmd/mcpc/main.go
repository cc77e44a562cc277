// Command mcpc is an MCP client in which what a server says is evidence and what a person wrote is permission.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"mcpc/internal/refusal"
	"mcpc/internal/transport"
)

func main() {
	if os.Getenv("GOGC") == "" {
		// Most of what is alive is a few long texts, which cost nothing to trace: with half the usual room for garbage,
		// a snapshot at its limit takes a third less memory and the same time.
		debug.SetGCPercent(50)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a closed stdout is an error, after which children are ended
	go func() {
		<-stop
		cancel()
		<-stop // whoever asks twice does not want to wait until a server has closed
		transport.KillChildren()
		os.Exit(refusal.ExitInterrupted)
	}()
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
