export function withoutMicrophone(page: { isSecure: boolean; devices: unknown }): string | null
export function microphoneFault(error: unknown): string | null
export function connectedWords(frame: { resumed: boolean; recording: boolean }, missing: string | null): string
