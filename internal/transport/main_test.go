package transport

import (
	"os"
	"testing"
)

// TestMain runs the tests, or, as the child of one, the fake server of fakeserver_test.go.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == fakeServerArg {
		os.Exit(fakeServer(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}
