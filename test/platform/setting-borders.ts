/** Values at the limits and beyond the limits of settings, for agents and for sessions. */

/**
 * Each row has a setting's path, a body at the limit, and a body beyond it. Texts at the limit contain emojis, because
 * lengths count code points and not UTF-16 units.
 */
export type Border = [path: string, taken: object, refused: object]

/** Limits for the settings that agents and sessions share. */
export const sharedBorders: Border[] = [
  ['/systemPrompt', { systemPrompt: '😀'.repeat(65_536) }, { systemPrompt: 'p'.repeat(65_537) }],
  ['/systemPrompt', { systemPrompt: 'p' }, { systemPrompt: '' }],
  ['/intent/language', { intent: { language: 'zh-Hant-TW' } }, { intent: { language: 'en_US' } }],
  ['/intent/language', { intent: { language: 'de' } }, { intent: { language: 'a' } }],
  [
    '/intent/optimizeFor',
    { intent: { language: 'en', optimizeFor: 'balanced' } },
    { intent: { language: 'en', optimizeFor: 'fast' } },
  ],
  [
    '/intent/region',
    { intent: { language: 'en', region: '😀'.repeat(64) } },
    { intent: { language: 'en', region: 'r'.repeat(65) } },
  ],
  ['/voice', { voice: '😀'.repeat(256) }, { voice: 'v'.repeat(257) }],
  ['/voice', { voice: 'v' }, { voice: '' }],
  ['/firstMessage', { firstMessage: '😀'.repeat(2000) }, { firstMessage: 'm'.repeat(2001) }],
  ['/firstMessageMode', { firstMessageMode: 'message', firstMessage: 'Hi.' }, { firstMessageMode: 'message' }],
  ['/firstMessageMode', { firstMessageMode: 'generate' }, { firstMessageMode: 'sing' }],
  ['/llmOptions/temperature', { llmOptions: { temperature: 2 } }, { llmOptions: { temperature: 2.1 } }],
  ['/llmOptions/temperature', { llmOptions: { temperature: 0 } }, { llmOptions: { temperature: -0.1 } }],
  ['/llmOptions/maxTokens', { llmOptions: { maxTokens: 8192 } }, { llmOptions: { maxTokens: 8193 } }],
  ['/llmOptions/maxTokens', { llmOptions: { maxTokens: 1 } }, { llmOptions: { maxTokens: 0 } }],
  [
    '/llmOptions/reasoningEffort',
    { llmOptions: { reasoningEffort: 'xhigh' } },
    { llmOptions: { reasoningEffort: 'most' } },
  ],
  ['/llmOptions/model', { llmOptions: { model: 'local/scripted' } }, { llmOptions: { model: 'local/nobody' } }],
  ['/llmOptions/model', { llmOptions: { model: 'scripted' } }, { llmOptions: { model: 'local:flite' } }],
  ['/ttsOptions/model', { ttsOptions: { model: 'flite' } }, { ttsOptions: { model: 'scripted' } }],
  ['/ttsOptions/speed', { ttsOptions: { speed: 0.5 } }, { ttsOptions: { speed: 0.49 } }],
  ['/ttsOptions/speed', { ttsOptions: { speed: 2 } }, { ttsOptions: { speed: 2.01 } }],
  [
    '/ttsOptions/instructions',
    { ttsOptions: { instructions: '😀'.repeat(1000) } },
    { ttsOptions: { instructions: 'i'.repeat(1001) } },
  ],
  ['/ttsOptions/sampleRate', { ttsOptions: { sampleRate: 48_000 } }, { ttsOptions: { sampleRate: 44_100 } }],
  ['/stackPreferences/allowedProviders/stt/0', allow('stt', ['local']), allow('stt', ['nobody'])],
  [
    '/stackPreferences/allowedProviders/llm/1',
    allow('llm', ['local', 'openai:gpt-4o-mini']),
    allow('llm', ['local', 'local:flite']),
  ],
  [
    '/stackPreferences/allowedProviders/tts',
    allow('tts', Array<string>(32).fill('local')),
    allow('tts', Array<string>(33).fill('local')),
  ],
  [
    '/sttOptions/keywords',
    { sttOptions: { keywords: Array<string>(100).fill('k') } },
    { sttOptions: { keywords: Array<string>(101).fill('k') } },
  ],
  [
    '/sttOptions/keywords/0',
    { sttOptions: { keywords: ['😀'.repeat(64)] } },
    { sttOptions: { keywords: ['k'.repeat(65)] } },
  ],
  ['/sttOptions/prompt', { sttOptions: { prompt: '😀'.repeat(2000) } }, { sttOptions: { prompt: 'p'.repeat(2001) } }],
  ['/sttOptions/language', { sttOptions: { language: 'auto' } }, { sttOptions: { language: 'a' } }],
  ['/backgroundAudio/ambient/volume', ambient({ volume: 1 }), ambient({ volume: 1.1 })],
  ['/backgroundAudio/ambient/clip', ambient({ clip: 'city-ambience' }), ambient({ clip: 'rain' })],
  ['/speechNormalization/textReplacements', replacing(pairs(500)), replacing(pairs(501))],
  ['/speechNormalization/textReplacements/k', replacing({ k: '😀'.repeat(256) }), replacing({ k: 'v'.repeat(257) })],
  ['/idleRePrompts/delayMs', { idleRePrompts: { delayMs: 2000 } }, { idleRePrompts: { delayMs: 1999 } }],
  ['/idleRePrompts/delayMs', { idleRePrompts: { delayMs: 60_000 } }, { idleRePrompts: { delayMs: 60_001 } }],
  ['/idleRePrompts/maxPrompts', { idleRePrompts: { maxPrompts: 10 } }, { idleRePrompts: { maxPrompts: 11 } }],
  [
    '/idleRePrompts/messages',
    { idleRePrompts: { messages: Array<string>(10).fill('m') } },
    { idleRePrompts: { messages: Array<string>(11).fill('m') } },
  ],
  [
    '/idleRePrompts/messages/0',
    { idleRePrompts: { messages: ['😀'.repeat(500)] } },
    { idleRePrompts: { messages: ['m'.repeat(501)] } },
  ],
  [
    '/idleRePrompts/messages/1',
    { idleRePrompts: { messages: ['m', '{{ m }}'] } },
    { idleRePrompts: { messages: ['m', '{{ m'] } },
  ],
  ['/turnHandling/endpointing/minDelay', endpointing({ minDelay: 100 }), endpointing({ minDelay: 99 })],
  [
    '/turnHandling/endpointing/minDelay',
    endpointing({ minDelay: 5000, maxDelay: 5000 }),
    endpointing({ minDelay: 5001, maxDelay: 6000 }),
  ],
  ['/turnHandling/endpointing/minDelay', endpointing({ minDelay: 2500 }), endpointing({ minDelay: 2501 })],
  ['/turnHandling/endpointing/maxDelay', endpointing({ maxDelay: 15_000 }), endpointing({ maxDelay: 15_001 })],
  ['/turnHandling/endpointing/maxDelay', endpointing({ maxDelay: 250 }), endpointing({ maxDelay: 249 })],
  [
    '/turnHandling/endpointing/maxDelay',
    endpointing({ maxDelay: 1500 }, 'ivr_patient'),
    endpointing({ maxDelay: 1499 }, 'ivr_patient'),
  ],
  [
    '/turnHandling/turnDetection',
    { turnHandling: { turnDetection: 'stt' } },
    { turnHandling: { turnDetection: true } },
  ],
  ['/turnHandling/interruption/minDuration', interruption({ minDuration: 5000 }), interruption({ minDuration: 5001 })],
  ['/turnHandling/interruption/minWords', interruption({ minWords: 10 }), interruption({ minWords: 11 })],
  [
    '/turnHandling/interruption/falseTimeout',
    interruption({ falseTimeout: 10_000 }),
    interruption({ falseTimeout: 10_001 }),
  ],
  ['/turnHandling/interruption/mode', interruption({ mode: 'none' }), interruption({ mode: 'all' })],
  ['/maxDurationSeconds', { maxDurationSeconds: 30 }, { maxDurationSeconds: 29 }],
  ['/maxDurationSeconds', { maxDurationSeconds: 14_400 }, { maxDurationSeconds: 14_401 }],
  ['/silenceTimeoutSeconds', { silenceTimeoutSeconds: 5 }, { silenceTimeoutSeconds: 4 }],
  ['/silenceTimeoutSeconds', { silenceTimeoutSeconds: 3600 }, { silenceTimeoutSeconds: 3601 }],
  ['/endCallMessage', { endCallMessage: '😀'.repeat(500) }, { endCallMessage: 'm'.repeat(501) }],
  ['/fallbackMessage', { fallbackMessage: '😀'.repeat(500) }, { fallbackMessage: 'm'.repeat(501) }],
  ['/maxToolHops', { maxToolHops: 1 }, { maxToolHops: 0 }],
  ['/maxToolHops', { maxToolHops: 16 }, { maxToolHops: 17 }],
  ['/timezone', { timezone: 'America/Argentina/Buenos_Aires' }, { timezone: 'Europe/Nowhere' }],
  ['/timezone', { timezone: 'UTC' }, { timezone: '+01:00' }],
  ['/recording', { recording: true }, { recording: 'yes' }],
  [
    '/clientOverrides/1',
    { clientOverrides: ['prompt', 'firstMessage', 'language', 'voiceId', 'speed'] },
    { clientOverrides: ['speed', 'speed'] },
  ],
  ['/clientOverrides/0', { clientOverrides: [] }, { clientOverrides: ['tools'] }],
  ['/systemPrompt', { systemPrompt: '{{ a }}' }, { systemPrompt: '{{ a' }],
  ['/firstMessage', { firstMessage: '{{ a }}' }, { firstMessage: '{% include "a" %}' }],
  ['/endCallMessage', { endCallMessage: '{{ a }}' }, { endCallMessage: '{{ a | nothing }}' }],
  ['/firstMessageMode', { firstMessageMode: 'listen' }, { firstMessageMode: 'message', firstMessage: '' }],
  ['/llmOptions/maxTokens', { llmOptions: { maxTokens: 2 } }, { llmOptions: { maxTokens: 1.5 } }],
  ['/llmOptions/reasoningEffort', { llmOptions: { reasoningEffort: 'none' } }, { llmOptions: { reasoningEffort: '' } }],
  [
    '/stackPreferences/allowedProviders/stt',
    allow('stt', Array<string>(32).fill('local')),
    allow('stt', Array<string>(33).fill('local')),
  ],
  [
    '/stackPreferences/allowedProviders/llm',
    allow('llm', Array<string>(32).fill('local')),
    allow('llm', Array<string>(33).fill('local')),
  ],
  ['/backgroundAudio/ambient/volume', ambient({ volume: 0 }), ambient({ volume: -0.1 })],
  ['/backgroundAudio/toolSound/volume', toolSound({ volume: 1 }), toolSound({ volume: 1.1 })],
  ['/backgroundAudio/toolSound/clip', toolSound({ clip: 'keyboard-typing' }), toolSound({ clip: 'typing' })],
  ['/speechNormalization/pronunciationDictionary', speaking(pairs(500)), speaking(pairs(501))],
  [
    '/speechNormalization/pronunciationDictionary/k',
    speaking({ k: '😀'.repeat(256) }),
    speaking({ k: 'v'.repeat(257) }),
  ],
  ['/idleRePrompts/maxPrompts', { idleRePrompts: { maxPrompts: 1 } }, { idleRePrompts: { maxPrompts: 0 } }],
  ['/turnHandling/profile', { turnHandling: { profile: 'ivr' } }, { turnHandling: { profile: 'slow' } }],
  ['/turnHandling/endpointing/maxDelay', endpointing({ maxDelay: 800 }, 'ivr'), endpointing({ maxDelay: 799 }, 'ivr')],
  [
    '/turnHandling/preemptiveGeneration',
    { turnHandling: { preemptiveGeneration: false } },
    { turnHandling: { preemptiveGeneration: 'no' } },
  ],
  ['/turnHandling/interruption/minDuration', interruption({ minDuration: 0 }), interruption({ minDuration: -1 })],
  ['/turnHandling/interruption/minWords', interruption({ minWords: 0 }), interruption({ minWords: -1 })],
  ['/turnHandling/interruption/falseTimeout', interruption({ falseTimeout: 0 }), interruption({ falseTimeout: -1 })],
  [
    '/turnHandling/interruption/protectFirstMessage',
    interruption({ protectFirstMessage: true }),
    interruption({ protectFirstMessage: 1 }),
  ],
]

export const agentBorders: Border[] = [
  ['/name', { name: '😀'.repeat(120) }, { name: 'n'.repeat(121) }],
  ['/name', { name: ' n' }, { name: ' \n\u00a0' }],
  ['/voicemail/message', { voicemail: { message: '😀'.repeat(1000) } }, { voicemail: { message: 'm'.repeat(1001) } }],
  ['/voicemail/message', { voicemail: { message: '{{ a }}' } }, { voicemail: { message: '{% if %}' } }],
  ['/voicemail/onMachine', { voicemail: { action: 'hangup' } }, { voicemail: { onMachine: 'hangup' } }],
  ['/promptVariables', { promptVariables: variables(64) }, { promptVariables: variables(65) }],
  [
    '/promptVariables/0/name',
    { promptVariables: [{ name: `_${'v'.repeat(63)}` }] },
    { promptVariables: [{ name: 'v'.repeat(65) }] },
  ],
  ['/promptVariables/0/name', { promptVariables: [{ name: 'systems' }] }, { promptVariables: [{ name: 'system' }] }],
  [
    '/promptVariables/1/name',
    { promptVariables: [{ name: 'a' }, { name: 'A' }] },
    { promptVariables: [{ name: 'a' }, { name: 'a' }] },
  ],
  [
    '/promptVariables/0/defaultValue',
    { promptVariables: [{ name: 'a', defaultValue: '😀'.repeat(4096) }] },
    { promptVariables: [{ name: 'a', defaultValue: 'd'.repeat(4097) }] },
  ],
  [
    '/promptVariables/0/description',
    { promptVariables: [{ name: 'a', description: '😀'.repeat(500) }] },
    { promptVariables: [{ name: 'a', description: 'd'.repeat(501) }] },
  ],
  ['/extractionFields', { extractionFields: fields(30) }, { extractionFields: fields(31) }],
  [
    '/extractionFields',
    { extractionFields: fields(4, { description: '😀'.repeat(10_000) }) },
    { extractionFields: [...fields(4, { description: 'd'.repeat(10_000) }), ...fields(1, { name: 'more' })] },
  ],
  [
    '/extractionFields/0/name',
    { extractionFields: fields(1, { name: 'n'.repeat(64) }) },
    { extractionFields: fields(1, { name: 'n'.repeat(65) }) },
  ],
  ['/extractionFields/1/name', { extractionFields: fields(2) }, { extractionFields: [...fields(1), ...fields(1)] }],
  [
    '/extractionFields/0/options',
    { extractionFields: fields(1, { type: 'enum', options: options(50) }) },
    { extractionFields: fields(1, { type: 'enum', options: options(51) }) },
  ],
  [
    '/extractionFields/0/options',
    { extractionFields: fields(1, { type: 'enum', options: ['o'] }) },
    { extractionFields: fields(1, { type: 'enum' }) },
  ],
  [
    '/extractionFields/0/options',
    { extractionFields: fields(1, { type: 'number' }) },
    { extractionFields: fields(1, { type: 'number', options: ['o'] }) },
  ],
  [
    '/extractionFields/0/options/1',
    { extractionFields: fields(1, { type: 'enum', options: ['o', 'O'] }) },
    { extractionFields: fields(1, { type: 'enum', options: ['o', 'o'] }) },
  ],
  [
    '/extractionFields/0/options/0',
    { extractionFields: fields(1, { type: 'enum', options: ['😀'.repeat(120)] }) },
    { extractionFields: fields(1, { type: 'enum', options: ['o'.repeat(121)] }) },
  ],
  ['/rmsg/mode', { rmsg: { enabled: true, mode: 'shared' } }, { rmsg: { mode: 'own' } }],
  ['/webhooks', { webhooks: null }, { webhooks: [] }],
]

function allow(stage: string, ids: string[]): object {
  return { stackPreferences: { allowedProviders: { [stage]: ids } } }
}
function ambient(more: object): object {
  return { backgroundAudio: { ambient: { clip: 'crowded-room', ...more } } }
}
function toolSound(more: object): object {
  return { backgroundAudio: { toolSound: { clip: 'crowded-room', ...more } } }
}
function speaking(pronunciationDictionary: Record<string, string>): object {
  return { speechNormalization: { pronunciationDictionary } }
}
export function replacing(textReplacements: Record<string, string>): object {
  return { speechNormalization: { textReplacements } }
}
function pairs(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']))
}
function endpointing(delays: object, profile?: string): object {
  return { turnHandling: { ...(profile && { profile }), endpointing: delays } }
}
function interruption(more: object): object {
  return { turnHandling: { interruption: more } }
}
function variables(count: number): object[] {
  return Array.from({ length: count }, (_, at) => ({ name: `v${at}` }))
}
export function fields(count: number, more: object = {}): object[] {
  return Array.from({ length: count }, (_, at) => ({ name: `f${at}`, type: 'string', description: 'd', ...more }))
}
export function options(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `o${at}`)
}
