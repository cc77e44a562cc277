package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// operator is the person: a home of their own, a shell, and the patience to follow a few hints.
type operator struct {
	ctx    context.Context
	home   string
	url    string
	secret string // of a client registered beforehand; reaches mcpc as an environment variable
	log    io.Writer
	told   io.Writer
}

// work is the main job: look, keep, grant, call.
func (o *operator) work(p plan, told given) error {
	if err := o.configure(p, told, ""); err != nil {
		return err
	}
	o.mcpc("config", "check")
	if told.ClientID != "" {
		if err := o.findIssuer(p, told); err != nil {
			return err
		}
	}
	found := o.mcpc("discover", "peer", "--json")
	if found.exit != 0 {
		return nil
	}
	var seen struct {
		Tools []tool `json:"tools"`
	}
	if err := json.Unmarshal(found.stdout, &seen); err != nil {
		return err
	}
	calls := p.calls
	if p.choose != nil {
		calls = p.choose(told, seen.Tools)
	}
	if len(calls) == 0 || !o.grant(calls, p.trusting) {
		return nil
	}
	for _, c := range calls {
		typed := []string{"call", "peer", c.tool, "--args", c.arguments, "--authority", document, "--json"}
		if o.mcpc(typed...).refusal == "authority.auth_mismatch" && o.reviewSignIn() {
			o.mcpc(typed...)
		}
	}
	return nil
}

// document is the authority document, in the operator's home.
const document = "granted.json"

// reviewSignIn is what the refusal of another sign-in than the reviewed one hints at: the operator, who has just signed
// in with more scopes and meant it, looks at the credential and puts its issuer and scopes into the document.
func (o *operator) reviewSignIn() bool {
	shown := o.mcpc("credentials", "show", "peer", "--json")
	var credential struct {
		Issuer string   `json:"issuer"`
		Scopes []string `json:"scopes"`
	}
	if shown.exit != 0 || json.Unmarshal(shown.stdout, &credential) != nil {
		return false
	}
	path := filepath.Join(o.home, document)
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	text = edited(text, func(d map[string]any) {
		d["auth"] = map[string]any{"issuer": credential.Issuer, "scopesWithin": credential.Scopes}
	})
	return os.WriteFile(path, text, 0o600) == nil
}

// findIssuer asks mcpc which issuer the server names, and writes down that the client is known to it.
func (o *operator) findIssuer(p plan, told given) error {
	explained := o.once("login", "peer", "--explain", "--json") // refused while no client is configured, and explained
	var plan struct {
		Issuer string `json:"issuer"`
	}
	if json.Unmarshal(explained.stdout, &plan) != nil {
		return nil
	}
	return o.configure(p, told, plan.Issuer)
}

// grant keeps a snapshot and signs a document for the tools to be called.
func (o *operator) grant(calls []call, trusting bool) bool {
	if o.mcpc("snapshot", "take", "peer").exit != 0 {
		return false
	}
	draft := []string{"authority", "draft", "peer", "--by", "operator@example.com"}
	var tools []string
	for _, c := range calls {
		if !slices.Contains(tools, c.tool) {
			tools = append(tools, c.tool)
			draft = append(draft, "--tool", c.tool)
		}
	}
	drafted := o.mcpc(draft...)
	if trusting && drafted.exit == 0 {
		drafted.stdout = edited(drafted.stdout, anyArguments)
	}
	return drafted.exit == 0 && os.WriteFile(filepath.Join(o.home, document), drafted.stdout, 0o600) == nil
}

// anyArguments is the edit of a person who replaces what a draft says about arguments by true.
func anyArguments(d map[string]any) {
	tools, _ := d["tools"].(map[string]any)
	for _, t := range tools {
		if granted, ok := t.(map[string]any); ok {
			granted["arguments"] = true
		}
	}
}

// edited is a document after a person's edit; one that is no JSON stays as it is, for mcpc to refuse.
func edited(text []byte, edit func(map[string]any)) []byte {
	var d map[string]any
	if json.Unmarshal(text, &d) != nil {
		return text
	}
	edit(d)
	after, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return text
	}
	return after
}

// configure writes the configuration. A client is told of only once its issuer is known.
func (o *operator) configure(p plan, told given, issuer string) error {
	type object map[string]any
	peer, oauth := object{"http": object{"url": o.url}}, object{}
	if p.accept != "" {
		peer["accept_protocols"] = []string{p.accept}
	}
	if p.metadata != "" {
		oauth["client_metadata_url"] = p.metadata
	}
	if issuer != "" {
		client := object{"id": told.ClientID, "issuer": issuer}
		if told.ClientSecret != "" {
			client["secret"] = object{"env": "CLIENT_SECRET"}
		}
		oauth["client"] = client
	}
	if len(oauth) > 0 {
		peer["oauth"] = oauth
	}
	text, err := json.MarshalIndent(object{
		"servers": object{"peer": peer},
		"custody": object{"key": object{"file": filepath.Join(o.home, "key")}},
	}, "", "  ")
	if err != nil {
		return err
	}
	folder := filepath.Join(o.home, "config", "mcpc")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "config.json"), text, 0o600)
}

// ended is a command that has run.
type ended struct {
	stdout        []byte
	exit          int
	refusal, hint string
}

// patience is how many hints are followed for one command. A server that never has enough is left alone.
const patience = 2

// mcpc runs one command. Where it is refused with a sign-in as the hint, the hint is pasted as it stands, and the
// command typed again.
func (o *operator) mcpc(args ...string) ended {
	e := o.once(args...)
	for range patience {
		if e.exit != 4 || !strings.HasPrefix(e.hint, "mcpc login ") {
			break
		}
		if o.run(exec.CommandContext(o.ctx, "sh", "-c", e.hint), e.hint).exit != 0 {
			break
		}
		e = o.once(args...)
	}
	return e
}

// once runs one command, whatever comes of it.
func (o *operator) once(args ...string) ended {
	return o.run(exec.CommandContext(o.ctx, os.Getenv("MCPC"), args...), shown(args))
}

// run runs one command and writes down how it ended.
func (o *operator) run(cmd *exec.Cmd, text string) ended {
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = o.home, o.environment(), &stdout, &stderr
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	e := ended{stdout: stdout.Bytes(), exit: cmd.ProcessState.ExitCode()}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(o.told, "driver:", err)
	}
	e.refusal, e.hint = refused(stderr.String())
	fmt.Fprintf(o.told, "$ %s\n%s(exit %d)\n", text, stderr.String(), e.exit)
	line, _ := json.Marshal(map[string]any{"command": text, "exit": e.exit, "refusal": e.refusal})
	fmt.Fprintf(o.log, "%s\n", line)
	return e
}

// environment is all that mcpc sees. The follower of redirects stands beside the driver's program.
func (o *operator) environment() []string {
	env := []string{
		"PATH=" + filepath.Dir(os.Getenv("MCPC")) + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"HOME=" + o.home, "BROWSER=" + os.Getenv("FOLLOWER"), "NO_COLOR=1",
		"XDG_CONFIG_HOME=" + filepath.Join(o.home, "config"),
		"XDG_DATA_HOME=" + filepath.Join(o.home, "data"),
		"XDG_STATE_HOME=" + filepath.Join(o.home, "state"),
	}
	if o.secret != "" {
		env = append(env, "CLIENT_SECRET="+o.secret)
	}
	return env
}

// refused reads the name of a refusal and its first hint, from the form for people or the one for programs.
func refused(stderr string) (name, hint string) {
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		var r struct{ Refusal, Hint string }
		if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &r) == nil && r.Refusal != "" {
			first, _, _ := strings.Cut(r.Hint, "\n")
			return r.Refusal, first
		}
		if h, ok := strings.CutPrefix(line, "mcpc: hint: "); ok && hint == "" {
			hint = h
		} else if text, ok := strings.CutPrefix(line, "mcpc: "); ok {
			first, _, _ := strings.Cut(text, ": ")
			if strings.Contains(first, ".") && !strings.Contains(first, " ") {
				name, hint = first, ""
			}
		}
	}
	return name, hint
}

// shown is a command line for a log; arguments can be long and are not repeated.
func shown(args []string) string {
	words := append([]string{"mcpc"}, args...)
	if i := slices.Index(words, "--args"); i >= 0 {
		words[i+1] = "…"
	}
	return strings.Join(words, " ")
}
