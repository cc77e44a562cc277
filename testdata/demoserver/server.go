package main

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// newServer builds the station. Its list has pages of that many tools, or one page for 0.
func newServer(versions []string, fw *firmware, page int) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "weather-station", Title: "Harbour weather station", Version: "1.0.0"},
		&mcp.ServerOptions{
			Instructions:              "Readings of a small weather station by the harbour.",
			SupportedProtocolVersions: versions,
			Capabilities:              &mcp.ServerCapabilities{},
			PageSize:                  page,
		})
	for _, t := range stationTools(fw) {
		add(s, t)
	}
	add(s, sumTool(fw.isUpdated()))
	if fw.isUpdated() {
		return s
	}
	var once sync.Once
	notice := func() {
		if fw.isUpdated() {
			once.Do(func() { add(s, sumTool(true)) }) // replaces the old one, and announces that the list changed
		}
	}
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			notice() // another process may have installed it
			defer notice()
			return next(ctx, method, req)
		}
	})
	return s
}

// add registers a tool under its schemas, as bytes.
func add(s *mcp.Server, t tool) {
	d := &mcp.Tool{Name: t.name, Title: t.title, Description: t.description, InputSchema: json.RawMessage(t.input)}
	if t.output != "" {
		d.OutputSchema = json.RawMessage(t.output)
	}
	s.AddTool(d, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		args := []byte(req.Params.Arguments)
		if len(args) == 0 {
			args = []byte("{}")
		}
		return t.run(call{ctx, req, args})
	})
}
