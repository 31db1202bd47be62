package ci

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
)

// MaxEvent bounds an event, in bytes. GitHub's have at most 25 MB.
const MaxEvent = 32 << 20

// event is the part of GitHub's webhook payloads that is read (https://docs.github.com/en/webhooks/webhook-events-and-payloads); Forgejo's
// and Gitea's have the same fields.
type event struct {
	Action string `json:"action"`

	// Of a push.
	Ref     string `json:"ref"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Deleted bool   `json:"deleted"`

	PullRequest *struct {
		Number json.Number `json:"number"`
		State  string      `json:"state"`
		Head   side        `json:"head"`
		Base   side        `json:"base"`
		Labels []struct {
			Name string `json:"name"`
		} `json:"labels"`
	} `json:"pull_request"`

	MergeGroup *struct {
		HeadSHA string `json:"head_sha"`
		BaseRef string `json:"base_ref"`
	} `json:"merge_group"`

	Repository struct {
		DefaultBranch string `json:"default_branch"`
		FullName      string `json:"full_name"`
	} `json:"repository"`
}

// side is the head or the base of a pull request.
type side struct {
	Ref string `json:"ref"`
	SHA string `json:"sha"`
}

// parseEvent reads an event; no bytes mean an empty one.
func parseEvent(data []byte) (event, error) {
	var e event
	if len(data) > MaxEvent {
		return e, errUndecided(fmt.Sprintf("the event has more than %d bytes", MaxEvent))
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return e, nil
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return event{}, errUndecided("the event cannot be read: " + whyUnreadable(err))
	}
	return e, nil
}

// whyUnreadable says why an event cannot be read, with the names of its fields.
func whyUnreadable(err error) string {
	var unexpected *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &unexpected):
		kind, _, _ := strings.Cut(unexpected.Value, " ") // for a number it includes the digits
		if unexpected.Field == "" {
			return fmt.Sprintf("it is a JSON %s, not an object", wording.Clip(kind))
		}
		return fmt.Sprintf("unexpected JSON %s in %s", wording.Clip(kind), wording.Clip(unexpected.Field))
	case errors.As(err, &syntax):
		return fmt.Sprintf("it is not valid JSON, or is cut off (byte %d)", syntax.Offset)
	}
	return "a number in it is invalid" // the only other possible error
}

// addRequest adds the name of a pull request's own branch, and its labels that claim a lane.
func (p *Plan) addRequest(e event) {
	if e.PullRequest == nil {
		return
	}
	p.Source = e.PullRequest.Head.Ref
	for _, label := range e.PullRequest.Labels {
		p.addLabel(label.Name)
	}
}

func isPullRequest(name string) bool {
	switch name {
	case "pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment":
		return true
	}
	return false
}
