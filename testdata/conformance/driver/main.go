// Command driver stands for a person at a shell while the official suite plays the server: it turns the name of a
// scenario into ordinary mcpc commands and pastes the hints that mcpc prints.
//
// It knows no protocol: it opens no connection, reads no message and holds no token. What it does beyond typing is in
// plans.go, one line a scenario, and is nothing that a user could not type. Its stdout is one JSON line for each
// command, with the exit code and the name of the refusal; what was refused, and why, goes to stderr.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// deadline ends the driver before the suite would, since the suite ends only the shell between them.
const deadline = 100 * time.Second

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: MCP_CONFORMANCE_SCENARIO=NAME driver URL")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	if err := drive(ctx, os.Args[1], os.Getenv("MCP_CONFORMANCE_SCENARIO")); err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}

// given is what the suite tells a client outside the protocol, as an operator would be told by mail.
type given struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	ToolCalls    []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
}

func drive(ctx context.Context, url, scenario string) error {
	var told given
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &told); err != nil {
			return err
		}
	}
	p, ok := plans[scenario]
	if !ok {
		p = usual
	}
	home, err := os.MkdirTemp("", "mcpc-conformance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	o := &operator{ctx: ctx, home: home, url: url, secret: told.ClientSecret, log: os.Stdout, told: os.Stderr}
	return o.work(p, told)
}
