import { CopyButton } from './copy-button.tsx'
import { Line } from './layout.tsx'
import { Notice } from './notice.tsx'

type OnceProps = { title: string; text: string; label: string; note: string }

/** Shows a secret or a link that cannot be shown again. */
export function Once({ title, text, label, note }: OnceProps) {
  return (
    <Notice tone="good" title={title}>
      <Line>
        <code>{text}</code>
        <CopyButton text={text} label={label} />
      </Line>
      <small>{note}</small>
    </Notice>
  )
}
