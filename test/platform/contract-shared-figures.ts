/** The limits that several operations of the platform API share. */

export const language = '1…32, ^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$'
const objective = 'balanced|quality|accuracy|latency|cost'

const clip = 'office-ambience|city-ambience|crowded-room|keyboard-typing'

export const variable = '^(?!system$)[A-Za-z_][A-Za-z0-9_]{0,63}$'

export const token = "…64, ^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"

export const headerText = '^[\\t\\x20-\\x7E\\x80-\\xFF]*$'

const intent = { 'intent.language': language, 'intent.optimizeFor': objective, 'intent.region': '1…64' }

export const models = (llm: string, constraints: string) => ({
  [`${llm}.temperature`]: '0…2',
  [`${llm}.maxTokens`]: '1…8192',
  [`${llm}.model`]: '1…256',
  [`${llm}.reasoningEffort`]: 'none|minimal|low|medium|high|xhigh',
  ...Object.fromEntries(
    ['stt', 'llm', 'tts'].flatMap((stage) => [
      [`${constraints}.allowedProviders.${stage}`, '…32'],
      [`${constraints}.allowedProviders.${stage}[]`, '1…512'],
    ]),
  ),
})

export const shared = {
  ...intent,
  systemPrompt: '1…65536',
  voice: '1…256',
  firstMessage: '…2000',
  firstMessageMode: 'message|generate|listen',
  'sttOptions.keywords': '…100',
  'sttOptions.keywords[]': '1…64',
  'sttOptions.prompt': '…2000',
  'sttOptions.language': language,
  'ttsOptions.speed': '0.5…2',
  'ttsOptions.model': '1…256',
  'ttsOptions.instructions': '…1000',
  'ttsOptions.sampleRate': '8000|16000|24000|48000',
  'backgroundAudio.ambient.clip': clip,
  'backgroundAudio.ambient.volume': '0…1',
  'backgroundAudio.toolSound.clip': clip,
  'backgroundAudio.toolSound.volume': '0…1',
  'speechNormalization.pronunciationDictionary': '…500',
  'speechNormalization.pronunciationDictionary{name}': '1…128',
  'speechNormalization.pronunciationDictionary{}': '…256',
  'speechNormalization.textReplacements': '…500',
  'speechNormalization.textReplacements{name}': '1…128',
  'speechNormalization.textReplacements{}': '…256',
  'idleRePrompts.delayMs': '2000…60000',
  'idleRePrompts.maxPrompts': '1…10',
  'idleRePrompts.messages': '…10',
  'idleRePrompts.messages[]': '1…500',
  'turnHandling.profile': 'conversational|ivr|ivr_patient',
  'turnHandling.endpointing.minDelay': '100…5000',
  'turnHandling.endpointing.maxDelay': '100…15000',
  'turnHandling.turnDetection': 'text|vad|stt',
  'turnHandling.interruption.mode': 'adaptive|vad|none',
  'turnHandling.interruption.minDuration': '0…5000',
  'turnHandling.interruption.minWords': '0…10',
  'turnHandling.interruption.falseTimeout': '0…10000',
  maxDurationSeconds: '30…14400',
  silenceTimeoutSeconds: '5…3600',
  endCallMessage: '…500',
  fallbackMessage: '…500',
  maxToolHops: '1…16',
  timezone: '1…64',
  clientOverrides: '…5',
  'clientOverrides[]': 'prompt|firstMessage|language|voiceId|speed',
}
