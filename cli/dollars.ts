const decimals = 6

/** Writes an amount such as `-$0.012400`: exact, even for amounts too long for a number. */
export function dollarsOf(microUsd: string): string {
  const [sign, digits] = microUsd.startsWith('-') ? ['-', microUsd.slice(1)] : ['', microUsd]
  const padded = digits.padStart(decimals + 1, '0')
  return `${sign}$${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`
}
