//go:build race

package main

// stride is how many code points are passed over for each that is tried: the race detector makes text slow, and finds
// nothing in the hundredth that it did not find in the first.
const stride = 61
