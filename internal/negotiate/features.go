package negotiate

import (
	"slices"
	"strings"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

// admittedNot are the features that mcpc does not admit, by the name they have in capabilities and before the slash of
// their methods.
var admittedNot = map[string]*refusal.Entry{
	"resources":   refusal.FeatureResources,
	"prompts":     refusal.FeaturePrompts,
	"elicitation": refusal.FeatureElicitation,
	"sampling":    refusal.FeatureSampling,
	"roots":       refusal.FeatureRoots,
	"tasks":       refusal.FeatureTasks,
	"completion":  refusal.FeatureCompletion,
	"logging":     refusal.FeatureLogging,
}

// Feature returns the refusal of a feature that mcpc does not admit, by its name ("roots") or by one of its methods
// ("roots/list"), and nil for any other name.
func Feature(name string) *refusal.Entry {
	feature, _, _ := strings.Cut(name, "/")
	return admittedNot[feature]
}

// clientFeatures are what a server can ask of a client, in the order in which they are named.
var clientFeatures = []string{"elicitation", "sampling", "roots"}

// featureNames turns what a server asked for into our names for it: methods and capabilities of the closed set, and
// otherName for anything else.
func featureNames(asked []string) (names []string) {
	for _, name := range asked {
		feature, _, _ := strings.Cut(name, "/")
		if !slices.Contains(clientFeatures, feature) {
			feature = otherName
		}
		if !slices.Contains(names, feature) {
			names = append(names, feature)
		}
	}
	return names
}

// otherName stands for what is not in the closed set: its own name is the peer's text.
const otherName = "something else"

// featureRefusal refuses by the first feature that has a name.
func featureRefusal(names []string, fields ...refusal.Field) *refusal.Refusal {
	for _, name := range names {
		if entry := Feature(name); entry != nil {
			return refusal.New(entry, fields...)
		}
	}
	return refusal.New(refusal.FeatureUnknown, fields...)
}

// missingCapability refuses by what the data of a -32021 requires.
func missingCapability(data []byte, fields ...refusal.Field) *refusal.Refusal {
	required, _ := strictjson.Member(data, "requiredCapabilities")
	var asked []string
	for name := range strictjson.Members(required) {
		asked = append(asked, name)
	}
	return featureRefusal(featureNames(asked), fields...)
}
