// The program scenario runs the steps of the scenario with the client for Go, and prints a line for each step.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"

	"parley"
	"parley/compat"
	"parley/platform"
	"parley/realtime"
	"parley/router"
)

const text = "Hello there."

// step is one step of the scenario. Its values are printed.
type step struct {
	name string
	run  func(ctx context.Context) (values, error)
}

type values map[string]any

var (
	connection = parley.New(variable("PARLEY_URL"), variable("PARLEY_API_KEY"))
	routing    = router.New(connection)
	compatible = compat.New(connection)
	resources  = platform.New(connection)
	sockets    = realtime.New(connection)
)

// loopback answers with the request's text, and with a tone as long as the text.
var loopback = router.ExplicitRouting{Model: "loopback/loopback"}

func main() {
	ctx := context.Background()
	all := [][]step{
		modelSteps, textSteps, socketSteps, sessionSteps, webhookSteps, faultSteps, streamSteps, socketFaultSteps, ruleSteps,
	}
	for _, steps := range all {
		for _, step := range steps {
			result, err := step.run(ctx)
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s: %v\n", step.name, err)
				os.Exit(1)
			}
			result["step"] = step.name
			line, err := json.Marshal(result)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			fmt.Println(string(line))
		}
	}
}

func variable(name string) string {
	value, isSet := os.LookupEnv(name)
	if !isSet {
		fmt.Fprintln(os.Stderr, name+" is not set")
		os.Exit(1)
	}
	return value
}

var notLetters = regexp.MustCompile("[^a-z]+")

// wordsOf returns the text in lower case, without signs.
func wordsOf(transcript string) string {
	return strings.TrimSpace(notLetters.ReplaceAllString(strings.ToLower(transcript), " "))
}
