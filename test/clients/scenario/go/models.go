package main

import (
	"context"
	"io"
	"os"
	"slices"

	"parley"
	"parley/router"
)

var modelSteps = []step{
	{"models", models},
	{"transcription", transcription},
	{"raw_transcription", rawTranscription},
	{"speech", speech},
	{"speech_chunks", speechChunks},
}

func models(ctx context.Context) (values, error) {
	answer, err := routing.ListModels(ctx, nil)
	if err != nil {
		return nil, err
	}
	var kinds []string
	for _, model := range answer.Models {
		if model.Provider == "loopback" {
			kinds = append(kinds, string(model.Kind))
		}
	}
	slices.Sort(kinds)
	return values{"kinds": kinds}, nil
}

func transcription(ctx context.Context) (values, error) {
	recording, err := os.Open(variable("PARLEY_WAV"))
	if err != nil {
		return nil, err
	}
	defer recording.Close()
	answer, err := routing.CreateTranscription(ctx, router.CreateTranscriptionForm{
		Request: router.TranscriptionRequest{Language: parley.Ptr("en")},
		Audio:   recording,
	})
	if err != nil {
		return nil, err
	}
	return values{"words": wordsOf(answer.Text)}, nil
}

func rawTranscription(ctx context.Context) (values, error) {
	recording, err := os.Open(variable("PARLEY_WAV"))
	if err != nil {
		return nil, err
	}
	defer recording.Close()
	// A reader that cannot be sought has no known length.
	answer, err := compatible.Transcribe(ctx, io.MultiReader(recording), nil)
	if err != nil {
		return nil, err
	}
	return values{"words": wordsOf(answer.Text)}, nil
}

var speechRequest = router.SpeechRequest{
	Input:   text,
	Routing: loopback,
	Audio:   &router.SpeechAudio{},
}

func speech(ctx context.Context) (values, error) {
	audio, err := routing.CreateSpeech(ctx, speechRequest)
	if err != nil {
		return nil, err
	}
	defer audio.Close()
	all, err := io.ReadAll(audio)
	return values{"bytes": len(all)}, err
}

func speechChunks(ctx context.Context) (values, error) {
	audio, err := routing.CreateSpeech(ctx, speechRequest)
	if err != nil {
		return nil, err
	}
	defer audio.Close()
	chunk, bytes := make([]byte, 4096), 0
	for {
		count, err := audio.Read(chunk)
		bytes += count
		if err == io.EOF {
			return values{"bytes": bytes}, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
