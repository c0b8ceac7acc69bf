package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"parley"
	"parley/platform"
	"parley/session"
)

var sessionSteps = []step{
	{"agent", createAgent},
	{"session", talk},
	{"call", endedCall},
	{"report", report},
	{"recording", recording},
}

const (
	triesMax   = 200
	triesPause = 100 * time.Millisecond
	longBytes  = 10_000
)

var (
	questions          = []string{"How are you?", "Goodbye."}
	providers          = []string{"loopback"}
	agentID, sessionID string
)

func createAgent(ctx context.Context) (values, error) {
	allowed := platform.StackPreferencesAllowedProviders{STT: providers, LLM: providers, TTS: providers}
	agent, err := resources.CreateAgent(ctx, platform.NewAgent{
		Name:             "Scenario",
		SystemPrompt:     "Be brief.",
		Intent:           platform.AgentIntent{Language: "en"},
		StackPreferences: parley.Value(platform.StackPreferences{AllowedProviders: &allowed}),
	})
	if err != nil {
		return nil, err
	}
	agentID = agent.ID
	return values{"name": agent.Name, "language": agent.Intent.Language}, nil
}

// talk types each question after the answer to the previous question, and hangs up after the last answer.
func talk(ctx context.Context) (values, error) {
	started, err := resources.CreateSession(ctx, platform.NewSession{AgentID: parley.Value(agentID)})
	if err != nil {
		return nil, err
	}
	sessionID = started.SessionID
	media := session.New(connection.WithAPIKey(started.TransportToken))
	socket, err := media.SessionMedia(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	var answers []string
	for frame, err := range socket.Frames(ctx) {
		if err != nil {
			return nil, err
		}
		var reply session.SessionMediaSent
		switch frame := frame.(type) {
		case session.ReadyFrame:
			reply = next(answers)
		case session.MarkFrame:
			reply = session.PlayedFrame{Mark: &frame.Name}
		case session.AgentMessageFrame:
			if frame.IsFinal {
				answers = append(answers, frame.Text)
				reply = next(answers)
			}
		case session.EndFrame:
			return values{"answers": answers, "end": frame.Reason}, nil
		}
		if reply == nil {
			continue
		}
		if err := socket.Send(ctx, reply); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the socket closed without an end")
}

func next(answers []string) session.SessionMediaSent {
	if len(answers) < len(questions) {
		return session.UserMessageFrame{Text: questions[len(answers)]}
	}
	return session.HangUpFrame{}
}

// endedCall waits until the recording is stored.
func endedCall(ctx context.Context) (values, error) {
	for range triesMax {
		state, err := resources.GetSession(ctx, sessionID)
		if err != nil {
			return nil, err
		}
		if status := state.RecordingStatus; status != nil && *status == platform.RecordingStatusReady {
			call, err := resources.GetCall(ctx, sessionID)
			if err != nil {
				return nil, err
			}
			return values{"status": call.Status, "kind": call.Kind}, nil
		}
		time.Sleep(triesPause)
	}
	return nil, errors.New("the recording is not ready")
}

func report(ctx context.Context) (values, error) {
	report, err := resources.GetCallReport(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	var turns []string
	for _, entry := range report.Transcript.Entries {
		turns = append(turns, fmt.Sprintf("%s: %s", entry.Source, entry.Text))
	}
	return values{"turns": turns}, nil
}

func recording(ctx context.Context) (values, error) {
	audio, err := resources.GetCallRecordingAudio(ctx, sessionID, nil)
	if err != nil {
		return nil, err
	}
	defer audio.Close()
	bytes, err := io.ReadAll(audio)
	if err != nil {
		return nil, err
	}
	return values{"starts": string(bytes[:min(4, len(bytes))]), "is_long": len(bytes) > longBytes}, nil
}
