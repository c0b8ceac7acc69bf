export function endWords(reason: string | null, fault: string | null): string
