package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/store"
	"mcpc/internal/terminal"
	"mcpc/internal/transport"
)

// version is what `mcpc version`, the clientInfo of every request and the snapshots say.
const version = "0.1.0"

// app is what a command works with. No command touches the process's own streams, environment or clock.
type app struct {
	environ        []string
	stdin          io.Reader
	stdout, stderr io.Writer
	outTTY, errTTY bool
	now            func() time.Time
	random         func() float64 // in [0, 1)

	json       bool
	configPath string
	config     *config.Config // nil until it is loaded
	trace      string
	tracing    *transport.Trace
	keyrings   map[time.Duration]store.Keyring // by their limit
	showStderr bool
}

// answered is the exit code of a command that did its work and whose honest answer is not "yes".
type answered int

func (answered) Error() string { return "answered" }

// run is the program: arguments and environment in, exit code out.
func run(ctx context.Context, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{environ: environ, stdin: stdin, stdout: stdout, stderr: stderr, now: time.Now, random: rand.Float64}
	a.outTTY, a.errTTY = terminal.Is(stdout), terminal.Is(stderr)
	return a.run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) int {
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.stdin)
	help := &written{w: a.stdout}
	root.SetOut(help)
	root.SetErr(a.stderr)
	addCompletion(root)
	err := root.ExecuteContext(ctx)
	if help.err != nil && (err == nil || unnamed(err)) {
		err = refusal.New(refusal.OutputWrite)
	}
	var code answered
	switch {
	case err == nil:
		return refusal.ExitDone
	case errors.As(err, &code):
		return int(code)
	case ctx.Err() != nil && unnamed(err):
		err = refusal.New(refusal.Interrupted)
	}
	return a.refuse(err)
}

// unnamed reports an error that would be printed as internal.
func unnamed(err error) bool {
	var use usageError
	return !errors.As(err, &use) && refusal.From(err).Entry() == refusal.Internal
}

// written remembers whether what cobra prints (help, version, completion) could be written; cobra itself does not.
type written struct {
	w   io.Writer
	err error
}

func (w *written) Write(b []byte) (int, error) {
	n, err := w.w.Write(b)
	if err != nil {
		w.err = err
	}
	return n, err
}

// refuse prints why a command ends and returns its exit code.
func (a *app) refuse(err error) int {
	var use usageError
	if errors.As(err, &use) {
		err = refusal.New(refusal.Usage, refusal.Own("reason", use.reason)).Hint(use.hint)
	}
	r := refusal.From(err)
	if a.json {
		doc, _ := json.Marshal(r)
		if a.errTTY {
			doc = terminal.EscapeJSON(doc)
		}
		fmt.Fprintf(a.stderr, "%s\n", doc)
		return r.ExitCode()
	}
	fmt.Fprintf(a.stderr, "mcpc: %s\n", terminal.Escape(r.Error()))
	if hint := r.HintText(); hint != "" {
		for line := range strings.SplitSeq(hint, "\n") {
			fmt.Fprintf(a.stderr, "mcpc: hint: %s\n", terminal.Escape(line))
		}
	}
	return r.ExitCode()
}

// usageError is a command line that cannot be understood. Its text is ours, or repeats the command line.
type usageError struct{ reason, hint string }

func (e usageError) Error() string { return e.reason }

func usage(cmd *cobra.Command, format string, args ...any) error {
	return usageError{fmt.Sprintf(format, args...), cmd.CommandPath() + " --help"}
}

// note prints a line about the work to stderr, for people; text from elsewhere must come through %q or terminal.Escape.
func (a *app) note(format string, args ...any) {
	if !a.json {
		fmt.Fprintf(a.stderr, "mcpc: "+format+"\n", args...)
	}
}

// lookupEnv is os.LookupEnv over the environment that run was given.
func (a *app) lookupEnv(name string) (string, bool) {
	for i := len(a.environ) - 1; i >= 0; i-- {
		if n, v, ok := strings.Cut(a.environ[i], "="); ok && sameVariable(n, name) {
			return v, true
		}
	}
	return "", false
}

func sameVariable(a, b string) bool { return sameVariableOn(runtime.GOOS, a, b) }

// sameVariableOn knows that the names of variables have no case on Windows.
func sameVariableOn(system, a, b string) bool {
	return a == b || system == "windows" && strings.EqualFold(a, b)
}

func (a *app) getenv(name string) string {
	v, _ := a.lookupEnv(name)
	return v
}
