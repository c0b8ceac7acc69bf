/**
 * Writes the page's requests as curl commands for a terminal. The key is in a shell variable, so the shell's history
 * does not show the key.
 */

const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`
const lines = (...parts) => parts.filter(Boolean).join(' \\\n  ')
const authorization = '-H "Authorization: Bearer $PARLEY_API_KEY"'

export function transcriptionAsCurl({ model, language }) {
  return lines(
    `curl -sS ${quoted(`${location.origin}/v1/audio/transcriptions`)}`,
    authorization,
    '-F file=@recording.wav',
    `-F ${quoted(`model=${model || 'auto'}`)}`,
    language && `-F ${quoted(`language=${language}`)}`,
  )
}

export function speechAsCurl({ model, voice, language, text }) {
  const { prefix } = document.documentElement.dataset
  const body = { model: model || 'auto', input: text, ...(voice && { voice }), response_format: 'wav' }
  return lines(
    `curl -sS ${quoted(`${location.origin}/v1/audio/speech`)}`,
    authorization,
    "-H 'Content-Type: application/json'",
    language && `-H ${quoted(`X-${prefix[0].toUpperCase()}${prefix.slice(1)}-Language: ${language}`)}`,
    `-d ${quoted(JSON.stringify(body))}`,
    '-o speech.wav',
  )
}

/** Copies the text to the clipboard. Returns false if this failed: browsers forbid it for pages without HTTPS. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
