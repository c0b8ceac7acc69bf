/** What people call the vendors; by the adapter that speaks to them. */
export const vendorNames: Readonly<Record<string, string>> = {
  anthropic: 'Anthropic',
  assemblyai: 'AssemblyAI',
  cartesia: 'Cartesia',
  cerebras: 'Cerebras',
  deepgram: 'Deepgram',
  elevenlabs: 'ElevenLabs',
  gemini: 'Google Gemini',
  groq: 'Groq',
  kokoro: 'Kokoro',
  local: 'Embedded engines',
  lmstudio: 'LM Studio',
  loopback: 'Loopback',
  mistral: 'Mistral AI',
  ollama: 'Ollama',
  openai: 'OpenAI',
  openrouter: 'OpenRouter',
  soniox: 'Soniox',
  speaches: 'Speaches',
  speechmatics: 'Speechmatics',
  vllm: 'vLLM',
}

/** A provider that configuration named otherwise is known by its id. */
export function vendorNameOf(
  id: string,
  configs: readonly { id: string; adapter: string; baseUrl?: string }[],
): string {
  const config = configs.find((each) => each.id === id)
  const vendor = config === undefined ? id : config.baseUrl === undefined ? config.adapter : id
  return Object.hasOwn(vendorNames, vendor) ? (vendorNames[vendor] ?? id) : id
}
