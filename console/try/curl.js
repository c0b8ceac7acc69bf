/**
 * Writes the page's requests as curl commands for a terminal. The key is in a shell variable, so the shell's history
 * does not show the key.
 */
import { speechRequest } from './speech-request.js'

const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`
const lines = (...parts) => parts.filter(Boolean).join(' \\\n  ')
const authorization = '-H "Authorization: Bearer $PARLEY_API_KEY"'

function transcription({ model, language }) {
  return lines(
    `curl -sS ${quoted(`${location.origin}/v1/audio/transcriptions`)}`,
    authorization,
    '-F file=@recording.wav',
    `-F ${quoted(`model=${model || 'auto'}`)}`,
    language && `-F ${quoted(`language=${language}`)}`,
  )
}

function speech(choice) {
  const { body, headers } = speechRequest(choice)
  return lines(
    `curl -sS ${quoted(`${location.origin}/v1/audio/speech`)}`,
    authorization,
    "-H 'Content-Type: application/json'",
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `-d ${quoted(JSON.stringify(body))}`,
    '-o speech.wav',
  )
}

export const curl = { stt: transcription, tts: speech }
