import { X } from 'lucide-react'
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { Button } from './button.tsx'
import styles from './dialog.module.css'

type DialogProps = { title: string; onClose: () => void; children: ReactNode }

/** Shows the browser's own dialog, which keeps the focus inside, returns the focus, and closes on Escape. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => ref.current?.showModal(), [])
  return (
    <dialog ref={ref} className={styles.dialog} aria-label={title} onClose={onClose}>
      <header className={styles.header}>
        <h2>{title}</h2>
        <Button look="quiet" isSmall aria-label="Close" onClick={() => ref.current?.close()}>
          <X aria-hidden="true" />
        </Button>
      </header>
      {children}
    </dialog>
  )
}
