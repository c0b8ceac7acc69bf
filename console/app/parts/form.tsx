/** More parts for forms: longer texts, switches, field rows, and the question before a deletion. */
import { type ComponentProps, type FormEvent, type ReactNode, useId } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import fieldStyles from './field.module.css'
import styles from './form.module.css'
import { ActionFault } from './notice.tsx'

type Labelled = { label: string; note?: ReactNode }

/** A text with several lines. */
export function AreaField({ label, note, ...rest }: ComponentProps<'textarea'> & Labelled) {
  const id = useId()
  const described = note === undefined ? undefined : `${id}-note`
  return (
    <div className={fieldStyles.field}>
      <label htmlFor={id}>{label}</label>
      <textarea id={id} rows={4} className={styles.area} aria-describedby={described} {...rest} />
      {note !== undefined && <small id={described}>{note}</small>}
    </div>
  )
}

export function CheckField({ label, note, ...rest }: ComponentProps<'input'> & Labelled) {
  const id = useId()
  const described = note === undefined ? undefined : `${id}-note`
  return (
    <div className={styles.check}>
      <input id={id} type="checkbox" aria-describedby={described} {...rest} />
      <div>
        <label htmlFor={id}>{label}</label>
        {note !== undefined && <small id={described}>{note}</small>}
      </div>
    </div>
  )
}

/** Fields with a common name. */
export function FieldGroup({ label, note, children }: Labelled & { children: ReactNode }) {
  return (
    <fieldset className={styles.group}>
      <legend>{label}</legend>
      {note !== undefined && <small>{note}</small>}
      {children}
    </fieldset>
  )
}

export function FieldRow({ children }: { children: ReactNode }) {
  return <div className={styles.row}>{children}</div>
}

type FormProps = { submit: (values: FormValues) => void; error?: unknown; actions: ReactNode; children: ReactNode }

/** A form. Its fields keep their values themselves, and `submit` gets the values. */
export function Form({ submit, error, actions, children }: FormProps) {
  const listen = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    submit(new FormValues(new FormData(event.currentTarget)))
  }
  return (
    <form className={styles.form} onSubmit={listen}>
      {children}
      <ActionFault error={error} />
      <div className={styles.actions}>{actions}</div>
    </form>
  )
}

export class FormValues {
  readonly #data: FormData

  constructor(data: FormData) {
    this.#data = data
  }

  text(name: string): string {
    const value = this.#data.get(name)
    return typeof value === 'string' ? value.trim() : ''
  }

  /** The text, or undefined for an empty field. */
  optional(name: string): string | undefined {
    const text = this.text(name)
    return text === '' ? undefined : text
  }

  number(name: string): number | undefined {
    const text = this.text(name)
    return text === '' ? undefined : Number(text)
  }

  /** Returns the values from all checked boxes with this name. */
  all(name: string): string[] {
    return this.#data.getAll(name).filter((value) => typeof value === 'string')
  }

  has(name: string): boolean {
    return this.#data.has(name)
  }
}

type ConfirmProps = {
  title: string
  children: ReactNode
  action: string
  run: () => void
  isPending: boolean
  error?: unknown
  onClose: () => void
}

/** Asks before something is done that cannot be undone. */
export function ConfirmDialog({ title, children, action, run, isPending, error, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className={styles.form}>
        <div>{children}</div>
        <ActionFault error={error} />
        <div className={styles.actions}>
          <Button look="alarm" disabled={isPending} onClick={run}>
            {action}
          </Button>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
