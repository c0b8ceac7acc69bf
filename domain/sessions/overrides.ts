import type { SessionOverrides } from './live.ts'
import type { Pipeline } from './pipeline.ts'

/** The pipeline with the values that the page has sent. Only names that the session allows get here. */
export function overridden(pipeline: Pipeline, overrides: SessionOverrides): Pipeline {
  const { prompt, firstMessage, language, voiceId, speed } = overrides
  return {
    ...pipeline,
    ...(prompt !== undefined && { systemPrompt: prompt }),
    ...(firstMessage !== undefined && firstMessageOf(firstMessage)),
    ...(voiceId !== undefined && { voice: voiceId }),
    ...(language !== undefined && { intent: { ...pipeline.intent, language } }),
    ...(speed !== undefined && { ttsOptions: { ...pipeline.ttsOptions, speed } }),
  }
}

function firstMessageOf(text: string): Pick<Pipeline, 'firstMessage' | 'firstMessageMode'> {
  return text === ''
    ? { firstMessage: null, firstMessageMode: 'listen' }
    : { firstMessage: text, firstMessageMode: 'message' }
}
