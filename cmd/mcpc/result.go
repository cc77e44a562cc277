package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"mcpc/internal/negotiate"
	"mcpc/internal/refusal"
	"mcpc/internal/schema"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

// printResult prints the answer to a call: with --json the received bytes, else what was there, in order. A result that
// is not the answer is printed too, since it is evidence, and then refused.
func (a *app) printResult(tool *snapshot.Tool, r *negotiate.Result, save string) error {
	var saved map[int]string
	var unsaved error // told when the answer is out: the call has run, and will not be made again
	if save != "" {
		saved, unsaved = a.saveBinaries(r.Raw, save)
	}
	if err := a.printContent(r.Raw, saved); err != nil {
		return err
	}
	for _, asked := range r.Asked {
		a.note("note: the server asked for %s during the call and was refused", asked)
	}
	if r.IsError {
		a.note("the tool reports an error")
	} else {
		a.noteOutputSchema(tool, r.Raw)
	}
	switch {
	case r.Refused != nil:
		return r.Refused
	case unsaved != nil:
		return unsaved
	case r.IsError:
		return answered(refusal.ExitNo)
	}
	return nil
}

func (a *app) printContent(raw []byte, saved map[int]string) error {
	if a.json {
		return a.printJSON(raw)
	}
	p := a.page()
	content, ok := strictjson.Member(raw, "content")
	if !ok || strictjson.Kind(content) != '[' {
		a.note("note: the result has no content list; this is all of it")
		p.line(p.json(raw))
		return p.flush()
	}
	structured, has := strictjson.Member(raw, "structuredContent")
	for i, block := range strictjson.Elements(content) {
		p.block(block, saved[i])
		has = has && !sameValue(block, structured)
	}
	if has && strictjson.Kind(structured) != 'n' {
		p.line(p.json(structured))
	}
	p.others(raw)
	return p.flush()
}

// block prints one content block. What is no text is named with its type and size; unknown blocks are shown as JSON.
func (p *page) block(block []byte, saved string) {
	switch kind := strictjson.MemberText(block, "type"); kind {
	case "text":
		text, ok := textOf(block, "text")
		if !ok {
			break
		}
		p.line(p.lines(text))
		return
	case "image", "audio":
		data, ok := textOf(block, "data")
		if !ok {
			break
		}
		p.binary(kind, strictjson.MemberText(block, "mimeType"), "", data, saved)
		return
	case "resource_link":
		p.linef("[link %s %s]", p.safe(strictjson.MemberText(block, "uri")), p.safe(strictjson.MemberText(block, "name")))
		return
	case "resource":
		if p.resource(block, saved) {
			return
		}
	}
	p.line(p.json(block))
}

func (p *page) resource(block []byte, saved string) bool {
	r, _ := strictjson.Member(block, "resource")
	uri := strictjson.MemberText(r, "uri")
	mime := strictjson.MemberText(r, "mimeType")
	blob, isBlob := textOf(r, "blob")
	text, isText := textOf(r, "text")
	if isBlob {
		p.binary("resource", mime, uri, blob, saved)
	}
	if isText {
		p.linef("[resource %s]", strings.TrimSpace(p.safe(mime)+" "+p.safe(uri)))
		p.line(p.lines(text))
	}
	return isBlob || isText
}

func (p *page) binary(kind, mime, uri, data, saved string) {
	words := []string{kind}
	for _, w := range []string{p.safe(mime), p.safe(uri)} {
		if w != "" {
			words = append(words, w)
		}
	}
	if bytes, err := base64.StdEncoding.DecodeString(data); err == nil {
		words = append(words, fmt.Sprintf("%d bytes", len(bytes)))
	} else {
		words = append(words, fmt.Sprintf("%d characters that are not valid base64", utf8.RuneCountInString(data)))
	}
	if saved != "" {
		words = append(words, "→ "+p.safe(saved))
	}
	p.line("[" + strings.Join(words, " ") + "]")
}

// others names the result's members that were not shown, so that nothing seems to be all when it is not.
func (p *page) others(raw []byte) {
	for name, value := range strictjson.Members(raw) {
		switch name {
		case "content", "structuredContent", "isError", "resultType", "_meta":
		default:
			p.linef("%s: %s", p.safe(name), p.json(value))
		}
	}
}

// json is a JSON text for people: as it is, or escaped for a terminal.
func (p *page) json(value []byte) string { return p.lines(string(value)) }

func textOf(object []byte, member string) (string, bool) {
	v, ok := strictjson.Member(object, member)
	if !ok {
		return "", false
	}
	return strictjson.Text(v)
}

// sameValue reports whether a text block holds the same JSON as the structured content, which servers send twice for
// older clients.
func sameValue(block, structured []byte) bool {
	if strictjson.MemberText(block, "type") != "text" {
		return false
	}
	text := []byte(strictjson.MemberText(block, "text"))
	if strictjson.Validate(text, strictjson.MaxDepth) != nil {
		return false
	}
	one, err1 := strictjson.Canonical(text)
	two, err2 := strictjson.Canonical(structured)
	return err1 == nil && err2 == nil && bytes.Equal(one, two)
}

// noteOutputSchema says on stderr when a result is not what the pinned descriptor promised. The result stands.
func (a *app) noteOutputSchema(tool *snapshot.Tool, raw []byte) {
	out := tool.Describe().OutputSchema
	if out == nil {
		return
	}
	structured, ok := strictjson.Member(raw, "structuredContent")
	if !ok {
		a.note("note: result.structured_content_missing: the tool declares an output schema and sent no structured content")
		return
	}
	switch v := schema.Evaluate(out, structured); v.Verdict {
	case schema.Invalid:
		a.note("note: result.output_schema_mismatch: the structured content is not as the pinned output schema says (%s)",
			v.Keyword)
	case schema.NotEvaluated:
		a.note("note: the output schema was not evaluated (%s)", v.Why)
	}
}
