//go:build !unix

package main

import "io/fs"

// writableByOthers cannot be told from a file mode here: access control lists decide, and a user's own folders are
// closed to others by default.
func writableByOthers(fs.FileInfo) bool { return false }
