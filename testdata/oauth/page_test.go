package oauth

import (
	"fmt"
	"math"
	"testing"
)

// fitToRead requires of the last page that it needs nothing but itself, that the browser has nothing to complain of,
// and that its words can be read in light and dark and on a narrow screen.
func fitToRead(t *testing.T, s seen) {
	t.Helper()
	if s.Scripts != 0 || s.Outer != 0 || len(s.Complaints) != 0 || len(s.Requests) != 0 {
		t.Errorf("%d scripts, %d references, requests %q, complaints %q", s.Scripts, s.Outer, s.Requests, s.Complaints)
	}
	if s.Overflows || s.Lang != "en" || s.Heading == "" || s.Title == "" {
		t.Errorf("overflows %t, language %q, heading %q, title %q", s.Overflows, s.Lang, s.Heading, s.Title)
	}
	if len(s.Colours) != 2 || s.Colours["light"][0] == s.Colours["dark"][0] {
		t.Errorf("light and dark are alike: %v", s.Colours)
	}
	for scheme, elements := range s.Colours {
		for _, e := range elements {
			if c := contrast(t, e[1], e[2]); c < 4.5 {
				t.Errorf("%s: %s has a contrast of %.1f", scheme, e[0], c)
			}
		}
	}
}

// contrast is the ratio of WCAG 2.2, success criterion 1.4.3, which is 4.5 at least for text.
func contrast(t *testing.T, ink, ground string) float64 {
	t.Helper()
	a, b := luminance(t, ink), luminance(t, ground)
	return (max(a, b) + 0.05) / (min(a, b) + 0.05)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	var rgb [3]float64
	if _, err := fmt.Sscanf(colour, "rgb(%f, %f, %f)", &rgb[0], &rgb[1], &rgb[2]); err != nil {
		t.Fatalf("%q is no opaque colour", colour)
	}
	for i, c := range rgb {
		if c /= 255; c <= 0.04045 {
			rgb[i] = c / 12.92
		} else {
			rgb[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2]
}
