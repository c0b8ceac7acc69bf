/**
 * Sends the page's requests to the server. On the server's machine requests need no API key. On other machines the user
 * pastes a key, and only this variable stores it.
 */
import { reach } from './reach.js'

let apiKey = null

const authorized = (key = apiKey) => ({ authorization: `Bearer ${key}` })

/**
 * Throws an error with the server's reason if the key may not start sessions. The key is kept after the server's
 * response, so a late refusal of another key does not remove this key.
 */
export async function useKey(key) {
  const found = await agents(key)
  apiKey = key
  return found
}

/** Returns the stored agents, with the settings that the page shows. */
export async function agents(key = apiKey) {
  if (key === null) return jsonOf(await reach('/try/agents'))
  const stored = await jsonOf(await reach('/v1/agents', { headers: authorized(key) }))
  return stored.map(({ id, name, systemPrompt, firstMessage, intent, llmOptions }) => {
    return { id, name, systemPrompt, firstMessage, language: intent.language, model: llmOptions?.model ?? null }
  })
}

/** Returns the models that the server lists. */
export async function models() {
  const { data } = await jsonOf(await reach('/v1/models'))
  return data
}

/**
 * Creates a session. `wanted` has `agentId`, or the fields `systemPrompt`, `firstMessage`, `language`, `voice` and
 * `model`.
 */
export async function createSession(wanted) {
  if (apiKey === null) return jsonOf(await post('/try/sessions', wanted, {}))
  const { language, model, ...rest } = wanted
  const body = { ...rest, ...(language && { intent: { language } }), ...(model && { llm: { model } }) }
  return jsonOf(await post('/v1/sessions', body, authorized()))
}

/** Returns the session's finished turns with their latencies. */
export async function turnsOf(sessionId) {
  if (apiKey === null) return jsonOf(await reach(`/try/sessions/${sessionId}/turns`))
  const { entries } = await jsonOf(await reach(`/v1/sessions/${sessionId}/transcript`, { headers: authorized() }))
  return entries
}

const post = (path, body, headers) =>
  reach(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

/** Returns the answer's JSON. Throws an error with the server's reason. */
async function jsonOf(answer) {
  const body = await answer.json().catch(() => null)
  if (answer.ok) return body
  const reason = body?.error?.message ?? (typeof body?.error === 'string' ? body.error : null)
  throw new Error(reason ?? `The server answered ${answer.status}.`)
}
