package dev.parley.client;

import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Objects;

/**
 * The settings of a connection to a Parley server. All surfaces share a client, and it is safe for concurrent use.
 *
 * <p>Router, Compat and Platform call operations; Realtime and Session open sockets.
 */
public final class ParleyClient {
    /** The version of this package, which is part of the header User-Agent. */
    public static final String VERSION = "0.0.0";

    static final Duration CONNECT_MAX = Duration.ofSeconds(30);
    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(300);
    private static final int DEFAULT_RETRIES_MAX = 2;

    final String baseUrl;
    final String apiKey;
    final String userAgent;
    final String headerPrefix;
    final Duration timeout;
    final int retriesMax;
    final HttpClient http;

    private ParleyClient(Builder builder) {
        baseUrl = builder.baseUrl.replaceAll("/+$", "");
        apiKey = builder.apiKey;
        userAgent = (builder.userAgent == null ? "" : builder.userAgent + " ") + "parley-java/" + VERSION;
        headerPrefix = builder.headerPrefix;
        timeout = builder.timeout;
        retriesMax = builder.retriesMax;
        http = builder.http == null ? usualHttpClient() : builder.http;
    }

    private ParleyClient(ParleyClient other, String apiKey) {
        this.apiKey = apiKey;
        baseUrl = other.baseUrl;
        userAgent = other.userAgent;
        headerPrefix = other.headerPrefix;
        timeout = other.timeout;
        retriesMax = other.retriesMax;
        http = other.http;
    }

    /**
     * Returns a client with the usual settings. {@code baseUrl} is the server's root, such as http://127.0.0.1:8080.
     */
    public static ParleyClient create(String baseUrl) {
        return builder(baseUrl).build();
    }

    /** Returns a builder. {@code baseUrl} is the address of the server's root, such as http://127.0.0.1:8080. */
    public static Builder builder(String baseUrl) {
        return new Builder(baseUrl);
    }

    /** Returns a client with another credential, such as the token of a session. Both share their connections. */
    public ParleyClient withApiKey(String apiKey) {
        return new ParleyClient(this, apiKey);
    }

    /** The server speaks HTTP/1.1. A redirect could carry the key to another server, so no redirect is followed. */
    private static HttpClient usualHttpClient() {
        return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECT_MAX)
            .followRedirects(HttpClient.Redirect.NEVER).build();
    }

    /** Builds a client. */
    public static final class Builder {
        private final String baseUrl;
        private String apiKey = System.getenv("PARLEY_API_KEY");
        private String userAgent;
        private String headerPrefix = "Service";
        private Duration timeout = DEFAULT_TIMEOUT;
        private int retriesMax = DEFAULT_RETRIES_MAX;
        private HttpClient http;

        private Builder(String baseUrl) {
            this.baseUrl = Objects.requireNonNull(baseUrl, "baseUrl");
        }

        /** Sets the API key. The default is the environment variable PARLEY_API_KEY. */
        public Builder apiKey(String apiKey) {
            this.apiKey = apiKey;
            return this;
        }

        /**
         * Limits the time from sending until the whole answer, for each attempt. If the answer is a stream or audio,
         * limits the time until the answer begins, and then each read. The default is 300 seconds.
         */
        public Builder timeout(Duration timeout) {
            this.timeout = timeout;
            return this;
        }

        /** Sets how often a request is sent again after a failure that permits it. The default is 2. */
        public Builder retriesMax(int retriesMax) {
            this.retriesMax = retriesMax;
            return this;
        }

        /** Sets the server's setting headerPrefix, if its operator has changed it. The default is Service. */
        public Builder headerPrefix(String headerPrefix) {
            this.headerPrefix = headerPrefix;
            return this;
        }

        /** Adds the name of a program to the header User-Agent. */
        public Builder userAgent(String userAgent) {
            this.userAgent = userAgent;
            return this;
        }

        /** Sets the HTTP client, for example to use a proxy. A client that follows redirects is refused. */
        public Builder httpClient(HttpClient http) {
            if (http.followRedirects() != HttpClient.Redirect.NEVER)
                throw new IllegalArgumentException("the HTTP client follows redirects, which could carry the API key to"
                    + " another server: build it with followRedirects(HttpClient.Redirect.NEVER)");
            this.http = http;
            return this;
        }

        /** Returns the client. */
        public ParleyClient build() {
            return new ParleyClient(this);
        }
    }
}
