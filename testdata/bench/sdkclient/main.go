// Command sdkclient is the smallest useful client on the official SDK: the program that mcpc is measured against.
//
//	sdkclient call|list URL
//	sdkclient call|list COMMAND [ARG]...
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: sdkclient call|list URL|COMMAND [ARG]...")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "sdkclient:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, what string, peer []string) error {
	var t mcp.Transport = &mcp.CommandTransport{Command: exec.Command(peer[0], peer[1:]...)}
	if strings.HasPrefix(peer[0], "http://") {
		t = &mcp.StreamableClientTransport{Endpoint: peer[0], DisableStandaloneSSE: true}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "sdkclient", Version: "1"},
		&mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(ctx, t, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	out := json.NewEncoder(os.Stdout)
	if what == "call" {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hello"}})
		if err != nil {
			return err
		}
		return out.Encode(result)
	}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		if err := out.Encode(tool); err != nil {
			return err
		}
	}
	return nil
}
