type Voice = { id: string; name?: string; language?: string }
type Model = {
  stage: string
  languages: readonly string[]
  routable: boolean
  streaming: boolean
  voices?: readonly Voice[]
}

export function conversationLanguages(models: readonly Model[]): string[]
export function voicesOf(models: readonly Model[], tag: string): Voice[]
