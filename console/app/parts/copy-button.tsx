import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from './button.tsx'

/** The button says for this time that the text was copied. */
const confirmMs = 1600

/** Copies a text. `label` names the text for screen readers. */
export function CopyButton({ text, label, children }: { text: string; label: string; children?: string }) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), confirmMs)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true))
  return (
    <Button look="quiet" isSmall onClick={copy} aria-label={nameOf(label, children, isCopied)} title={label}>
      {isCopied ? <Check aria-hidden="true" /> : <Copy aria-hidden="true" />}
      {children}
    </Button>
  )
}

/** The accessible name begins with the visible text, so that people with speech control can say it. */
function nameOf(label: string, text: string | undefined, isCopied: boolean): string {
  const name = isCopied ? 'Copied' : label
  return text === undefined ? name : `${text}: ${name}`
}
