package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// rawContent is a content block of a type that the SDK has never heard of. The embedded block is never marshalled; it
// is there because the SDK's interface cannot be implemented from outside.
type rawContent struct {
	*mcp.TextContent
	json []byte
}

// MarshalJSON returns the block as it was written.
func (c rawContent) MarshalJSON() ([]byte, error) { return c.json, nil }

// text makes a result of one text block.
func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// radarImage draws an 8 by 8 picture of a rain cloud.
func radarImage() ([]byte, error) {
	m := image.NewGray(image.Rect(0, 0, 8, 8))
	for y := range 8 {
		for x := range 8 {
			dx, dy := x-4, y-4
			if dx*dx+dy*dy < 10 {
				m.SetGray(x, y, color.Gray{Y: 0x60})
			} else {
				m.SetGray(x, y, color.Gray{Y: 0xf0})
			}
		}
	}
	var out bytes.Buffer
	err := png.Encode(&out, m)
	return out.Bytes(), err
}

// chimeSound is 16 samples of a square wave, 8 bits mono at 8 kHz, as a WAV file.
func chimeSound() []byte {
	header := "RIFF\x34\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00" +
		"data\x10\x00\x00\x00"
	return []byte(header + "\x40\x40\x40\x40\xc0\xc0\xc0\xc0\x40\x40\x40\x40\xc0\xc0\xc0\xc0")
}
