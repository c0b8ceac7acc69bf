/**
 * Writes the page's requests as Python programs with the package requests. They read the key from the environment. A
 * string in JSON is a string in Python too.
 */
import { speechRequest } from './speech-request.js'

const lines = (...parts) => parts.filter(Boolean).join('\n')
const opening = '# pip install requests\nimport os, requests\n'
const headersOf = (more) =>
  `    headers={${['"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"]', ...pairs(more)].join(', ')}},`
const pairs = (fields) =>
  Object.entries(fields).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)

function transcription({ model, language }) {
  const fields = { model: model || 'auto', ...(language && { language }) }
  return lines(
    opening,
    'answer = requests.post(',
    `    ${JSON.stringify(`${location.origin}/v1/audio/transcriptions`)},`,
    headersOf({}),
    '    files={"file": open("recording.wav", "rb")},',
    `    data={${pairs(fields).join(', ')}},`,
    ')',
    'answer.raise_for_status()',
    'print(answer.json()["text"])',
  )
}

function speech(choice) {
  const { body, headers } = speechRequest(choice)
  return lines(
    opening,
    'answer = requests.post(',
    `    ${JSON.stringify(`${location.origin}/v1/audio/speech`)},`,
    headersOf(headers),
    `    json={${pairs(body).join(', ')}},`,
    ')',
    'answer.raise_for_status()',
    'open("speech.wav", "wb").write(answer.content)',
  )
}

export const python = { stt: transcription, tts: speech }
