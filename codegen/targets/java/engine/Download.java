package dev.parley.client;

import java.io.FilterInputStream;
import java.io.InputStream;
import java.net.http.HttpHeaders;

/** An answer of bytes, such as audio. It is read while the server sends it. The reader must close it. */
public final class Download extends FilterInputStream {
    private final HttpHeaders headers;

    Download(HttpHeaders headers, InputStream body) {
        super(body);
        this.headers = headers;
    }

    /** Returns the headers of the answer, such as Content-Type. */
    public HttpHeaders headers() {
        return headers;
    }
}
