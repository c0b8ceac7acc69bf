import type { StreamTranscript } from '../../domain/speech/stt.ts'

/** A transcript as a frame of the contract. `language` is the client's wish; a provider that detects the language knows better. */
export function transcriptFrame(transcript: StreamTranscript, language: string | null): string {
  const { utterance, text, isFinal, speechFinal, startMs, endMs, confidence, words } = transcript
  return JSON.stringify({
    type: 'transcript',
    id: `utt_${utterance}`,
    text,
    isFinal,
    speechFinal,
    startMs: Math.round(startMs),
    endMs: Math.round(endMs),
    language: transcript.language ?? language,
    confidence,
    words: words?.map(rounded),
  })
}

/** The contract has whole milliseconds. */
function rounded({ startMs, endMs, ...word }: NonNullable<StreamTranscript['words']>[number]) {
  return { ...word, startMs: Math.round(startMs), endMs: Math.round(endMs) }
}
