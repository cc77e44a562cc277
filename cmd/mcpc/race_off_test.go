//go:build !race

package main

// stride is 1: every code point is tried.
const stride = 1
