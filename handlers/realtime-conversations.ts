/**
 * OpenAI's clients open the same socket for a transcription and for a conversation with a speech-to-speech model. This
 * server supports only the transcription. For a conversation, a client starts a session with an agent.
 */

/** Returns true for OpenAI's speech-to-speech models, such as gpt-realtime and gpt-4o-mini-realtime-preview. */
export function isConversationModel(name: string): boolean {
  return /(^|[/:])gpt-[\w.-]*realtime/.test(name) && !/whisper|transcri|translat/.test(name)
}

export const otherOperation = 'For a conversation, start a session of an agent: POST /v1/sessions.'
