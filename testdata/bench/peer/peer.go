// Package peer is a modern MCP server with next to no cost of its own, so that what is measured is the client.
//
// It appends constant bytes and checks nothing: it is no example of a server.
package peer

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Peer is one tool list. Its pages are made when they are asked for: kept, they would make the server the largest
// process of a run over stdio.
type Peer struct {
	tools, page int
	prose       string // at the start of each description
}

// New makes a peer with that many tools, the first of them echo, in pages of the given size. Each of the others has a
// description with that many bytes more than it needs.
func New(tools, page, prose int) *Peer { return &Peer{tools, page, strings.Repeat("word ", prose/5)} }

const echo = `{"name":"echo","description":"Returns the text.","inputSchema":{"type":"object",` +
	`"properties":{"text":{"type":"string"}},"required":["text"]}}`

const (
	title   = `","title":"Readings","description":"`
	reading = `Returns the readings of one kind of sensor over the last hours, as a ` +
		`table with one row for each, newest first; the hours and the unit can be chosen.","inputSchema":` +
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{` +
		`"station":{"type":"string","description":"Which station to ask"},` +
		`"hours":{"type":"integer","minimum":1,"maximum":240,"default":24,"description":"How far back"},` +
		`"unit":{"type":"string","enum":["celsius","fahrenheit","kelvin"]},` +
		`"sensors":{"type":"array","items":{"type":"object","properties":{"kind":{"type":"string"},"height":{"type":"number"}},` +
		`"required":["kind"],"additionalProperties":false}}},"required":["station"],"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":true}}`
)

// list appends one page of the tools/list result.
func (p *Peer) list(b []byte, page int) []byte {
	b = append(b, `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[`...)
	from := page * p.page
	to := min(from+p.page, p.tools)
	for i := from; i < to; i++ {
		if i > from {
			b = append(b, ',')
		}
		if i == 0 {
			b = append(b, echo...)
			continue
		}
		b = append(b, `{"name":"reading_`...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, title...)
		b = append(b, p.prose...)
		b = append(b, reading...)
	}
	b = append(b, ']')
	if to < p.tools {
		b = fmt.Appendf(b, `,"nextCursor":"%d"`, page+1)
	}
	return append(b, '}')
}

// Answer returns the response to one message as a line, or nil when it wants none.
func (p *Peer) Answer(message []byte) []byte {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Cursor    string
			Arguments struct{ Text string }
		} `json:"params"`
	}
	if json.Unmarshal(message, &m) != nil || len(m.ID) == 0 {
		return nil
	}
	b := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,`, m.ID)
	switch m.Method {
	case "server/discover":
		b = append(b, `"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28"],`+
			`"capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}`...)
	case "tools/list":
		page, _ := strconv.Atoi(m.Params.Cursor) // the first page has no cursor
		b = p.list(append(b, `"result":`...), page)
	case "tools/call":
		text, _ := json.Marshal(m.Params.Arguments.Text)
		b = fmt.Appendf(b, `"result":{"resultType":"complete","content":[{"type":"text","text":%s}]}`, text)
	default:
		b = append(b, `"error":{"code":-32601,"message":"no such method"}`...)
	}
	return append(b, "}\n"...)
}
