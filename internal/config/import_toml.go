package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// codexServers is the table of servers in the configuration of Codex.
const codexServers = "mcp_servers"

// Bounds on how deep a TOML text can nest, since its reader has none: brackets of the whole text, and dots of one line.
const (
	maxBrackets = 10_000
	maxDots     = 1_000
)

func nestsTooDeep(text []byte) bool {
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxBrackets {
		return true
	}
	for line := range bytes.Lines(text) {
		if bytes.Count(line, []byte(".")) > maxDots {
			return true
		}
	}
	return false
}

// fromTOML reads the configuration of Codex as the JSON object that it stands for, members in the order of the file.
func fromTOML(text []byte, path string) ([]byte, error) {
	own := refusal.Own("path", path)
	if nestsTooDeep(text) {
		return nil, refusal.New(refusal.LimitDepth, refusal.Num("limit", strictjson.MaxDepth))
	}
	tables := map[string]any{}
	meta, err := toml.Decode(string(text), &tables)
	if err != nil {
		// The error's own text quotes the file, so only its place is taken.
		r := refusal.New(refusal.ConfigSyntax, own, refusal.Own("fault", "not TOML either"))
		var at toml.ParseError
		if errors.As(err, &at) {
			line, column := strictjson.Position(text, int64(at.Position.Start))
			r = r.With(refusal.Num("line", line), refusal.Num("column", column))
		}
		return nil, r
	}
	t := tomlText{rank: map[string]int{}}
	for i, key := range meta.Keys() {
		for n := range key {
			if name := key[:n+1].String(); t.rank[name] == 0 {
				t.rank[name] = i + 1
			}
		}
	}
	b := t.append(nil, nil, tables)
	if err := strictjson.ValidateObject(b, strictjson.MaxDepth); err != nil {
		return nil, syntax(b, path, err)
	}
	return b, nil
}

// tomlText writes decoded TOML as JSON.
type tomlText struct{ rank map[string]int } // place of each key in the file

func (t tomlText) append(b []byte, at toml.Key, value any) []byte {
	switch v := value.(type) {
	case map[string]any:
		return t.appendTable(b, at, v)
	case []map[string]any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = v[i]
		}
		return t.append(b, at, list)
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = t.append(b, at, e)
		}
		return append(b, ']')
	case string:
		return strictjson.AppendQuote(b, strings.ToValidUTF8(v, "\uFFFD"))
	case bool, int64:
		return fmt.Append(b, v)
	}
	return append(b, "null"...) // floats and times: no member that is read has one
}

func (t tomlText) place(at toml.Key, name string) int {
	return t.rank[append(slices.Clone(at), name).String()]
}

func (t tomlText) appendTable(b []byte, at toml.Key, table map[string]any) []byte {
	names := slices.SortedFunc(maps.Keys(table), func(x, y string) int {
		return cmp.Or(cmp.Compare(t.place(at, x), t.place(at, y)), cmp.Compare(x, y))
	})
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strictjson.AppendQuote(b, name), ':')
		b = t.append(b, append(slices.Clone(at), name), table[name])
	}
	return append(b, '}')
}
