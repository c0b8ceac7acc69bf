type Model = { stage: string; languages: readonly string[]; routable: boolean; streaming: boolean }

export function conversationLanguages(models: readonly Model[]): string[]
