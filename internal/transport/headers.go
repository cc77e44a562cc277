package transport

import (
	"encoding/base64"
	"strings"
)

// The sentinel of the value encoding (MCP 2026-07-28, Streamable HTTP, "Value Encoding"). It is case-sensitive.
const (
	sentinelStart = "=?base64?"
	sentinelEnd   = "?="
)

// EncodeHeaderValue returns the text that stands for s in Mcp-Name and Mcp-Param-*: s itself where it is visible ASCII
// with inner spaces, else its bytes in base64 between the sentinel marks (MCP 2026-07-28, Streamable HTTP, "Value
// Encoding"). A tab is encoded too: RFC 9110 admits it, but intermediaries may turn it into a space.
func EncodeHeaderValue(s string) string {
	if plainHeaderValue(s) {
		return s
	}
	return sentinelStart + base64.StdEncoding.EncodeToString([]byte(s)) + sentinelEnd
}

func plainHeaderValue(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return strings.Trim(s, " ") == s && !(strings.HasPrefix(s, sentinelStart) && strings.HasSuffix(s, sentinelEnd))
}
