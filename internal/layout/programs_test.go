package layout

// The programs under testdata belong to this module, and `go mod tidy` does not look there.
import _ "github.com/modelcontextprotocol/go-sdk/mcp"
