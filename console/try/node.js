/** Writes the page's requests as programs for Node 20 or later. They read the key from the environment. */
import { speechRequest } from './speech-request.js'

const lines = (...parts) => parts.filter(Boolean).join('\n')
const authorization = 'Authorization: `Bearer ${process.env.PARLEY_API_KEY}`'

function transcription({ model, language }) {
  return lines(
    "import { readFile } from 'node:fs/promises'\n",
    'const form = new FormData()',
    "form.set('file', new Blob([await readFile('recording.wav')]), 'recording.wav')",
    `form.set('model', ${JSON.stringify(model || 'auto')})`,
    language && `form.set('language', ${JSON.stringify(language)})`,
    `const answer = await fetch(${JSON.stringify(`${location.origin}/v1/audio/transcriptions`)}, {`,
    "  method: 'POST',",
    `  headers: { ${authorization} },`,
    '  body: form,',
    '})',
    'if (!answer.ok) throw new Error(await answer.text())',
    'console.log((await answer.json()).text)',
  )
}

function speech(choice) {
  const { body, headers } = speechRequest(choice)
  const more = Object.entries({ 'Content-Type': 'application/json', ...headers })
  return lines(
    "import { writeFile } from 'node:fs/promises'\n",
    `const answer = await fetch(${JSON.stringify(`${location.origin}/v1/audio/speech`)}, {`,
    "  method: 'POST',",
    `  headers: { ${[authorization, ...more.map(([name, value]) => `'${name}': ${JSON.stringify(value)}`)].join(', ')} },`,
    `  body: JSON.stringify(${JSON.stringify(body)}),`,
    '})',
    'if (!answer.ok) throw new Error(await answer.text())',
    "await writeFile('speech.wav', Buffer.from(await answer.arrayBuffer()))",
  )
}

export const node = { stt: transcription, tts: speech }
