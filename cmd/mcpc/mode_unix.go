//go:build unix

package main

import "io/fs"

// writableByOthers reports whether somebody beside the owner and root may write the file.
func writableByOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }
