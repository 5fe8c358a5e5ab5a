//! Every mistake and refusal a caller can meet, by a stable code with a page.

use axum::http::StatusCode;

macro_rules! codes {
    ($($variant:ident = $name:literal, $status:ident, $title:literal;)*) => {
        /// What a problem document is about. Codes are stable; wording is not.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $title] $variant,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Code] = &[$(Code::$variant,)*];

            /// The code as it is written in answers.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }

            /// The status it is answered with.
            #[must_use]
            pub fn status(self) -> StatusCode {
                match self { $(Code::$variant => StatusCode::$status,)* }
            }

            /// What it is about, in a few words.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Code::$variant => $title,)* }
            }

            /// Its page: what happened, what to do.
            #[must_use]
            pub fn page(self) -> &'static str {
                match self {
                    $(Code::$variant => include_str!(concat!("../../../docs/errors/", $name, ".md")),)*
                }
            }
        }
    };
}

codes! {
    KeyMissing = "key_missing", BAD_REQUEST, "The scope or key is missing";
    KeyInvalid = "key_invalid", BAD_REQUEST, "The scope or key cannot be used";
    ParameterUnknown = "parameter_unknown", BAD_REQUEST, "A query parameter is not known";
    ParameterInvalid = "parameter_invalid", BAD_REQUEST, "A query parameter cannot be used";
    BodyMissing = "body_missing", BAD_REQUEST, "A JSON body is needed";
    BodyIncomplete = "body_incomplete", BAD_REQUEST, "The body did not arrive whole";
    BodyTooLarge = "body_too_large", PAYLOAD_TOO_LARGE, "The body is too large";
    BodyTimeout = "body_timeout", REQUEST_TIMEOUT, "The body took too long to arrive";
    ContentTypeUnsupported = "content_type_unsupported", UNSUPPORTED_MEDIA_TYPE, "The content type is not accepted";
    EncodingUnsupported = "encoding_unsupported", UNSUPPORTED_MEDIA_TYPE, "The content encoding is not accepted";
    EncodingInvalid = "encoding_invalid", BAD_REQUEST, "The body is not what its encoding says";
    JsonInvalid = "json_invalid", BAD_REQUEST, "The body is not acceptable JSON";
    TooDeep = "too_deep", BAD_REQUEST, "The JSON nests too deeply";
    FormInvalid = "form_invalid", BAD_REQUEST, "The form cannot be read";
    FieldUnknown = "field_unknown", BAD_REQUEST, "A field is not known";
    FieldMissing = "field_missing", BAD_REQUEST, "A field is missing";
    FieldInvalid = "field_invalid", BAD_REQUEST, "A field cannot be used";
    RowsInvalid = "rows_invalid", BAD_REQUEST, "Some rows cannot be imported";
    Unauthorized = "unauthorized", UNAUTHORIZED, "A valid token is needed";
    SignatureRefused = "signature_refused", UNAUTHORIZED, "The sender did not prove who it is";
    SignatureStale = "signature_stale", UNAUTHORIZED, "The signature is too old or from the future";
    NotFound = "not_found", NOT_FOUND, "There is nothing at this path";
    EffectMissing = "effect_missing", NOT_FOUND, "There is no such effect";
    BlobMissing = "blob_missing", NOT_FOUND, "There is no such blob";
    TokenMissing = "token_missing", NOT_FOUND, "There is no such token";
    SecretMissing = "secret_missing", NOT_FOUND, "There is no such secret";
    ValueMissing = "value_missing", NOT_FOUND, "There is no such value";
    FlowMissing = "flow_missing", NOT_FOUND, "There is no such flow";
    ShadowMissing = "shadow_missing", NOT_FOUND, "The flow has no shadow";
    ReleaseMissing = "release_missing", NOT_FOUND, "There is no such release";
    RunMissing = "run_missing", NOT_FOUND, "There is no such run";
    ItemMissing = "item_missing", NOT_FOUND, "Nothing of that name waits for a person";
    ItemOver = "item_over", GONE, "It no longer waits for a person";
    ItemChanged = "item_changed", CONFLICT, "It has changed since it was shown";
    DecidedOtherwise = "decided_otherwise", CONFLICT, "Somebody decided otherwise";
    SetChanged = "set_changed", CONFLICT, "Something else waits than what was shown";
    NotAllowed = "not_allowed", FORBIDDEN, "It is for others to decide";
    MethodNotAllowed = "method_not_allowed", METHOD_NOT_ALLOWED, "The path has no such method";
    Busy = "busy", CONFLICT, "Somebody else is at it";
    Unknown = "unknown", CONFLICT, "Nobody knows whether it happened";
    Conflict = "conflict", UNPROCESSABLE_ENTITY, "The key stands for another input";
    StaleToken = "stale_token", CONFLICT, "This claim no longer holds";
    NotOpen = "not_open", CONFLICT, "There is nothing to decide";
    NotAbandoned = "not_abandoned", CONFLICT, "The claim is not that process's";
    FlowInvalid = "flow_invalid", UNPROCESSABLE_ENTITY, "The flow has errors";
    PathTaken = "path_taken", CONFLICT, "Another flow has this path";
    KeysAbandoned = "keys_abandoned", CONFLICT, "What is done would be forgotten";
    RunOpen = "run_open", CONFLICT, "The run is not over";
    RunOver = "run_over", CONFLICT, "The run is over";
    RunInner = "run_inner", CONFLICT, "The run belongs to another one";
    RunUnreadable = "run_unreadable", CONFLICT, "The run cannot be read";
    PlanChanged = "plan_changed", CONFLICT, "The plan is no longer true";
    ValueChanged = "value_changed", CONFLICT, "Something else is under the key";
    RotationRefused = "rotation_refused", CONFLICT, "No key can be changed to";
    HookNotReady = "hook_not_ready", SERVICE_UNAVAILABLE, "The hook is not ready";
    SigningUnavailable = "signing_unavailable", SERVICE_UNAVAILABLE, "Nothing can be signed here";
    SecretsKey = "secrets_key", SERVICE_UNAVAILABLE, "Secrets cannot be opened or sealed";
    Overloaded = "overloaded", SERVICE_UNAVAILABLE, "Too much is waiting to be written";
    StoreUnavailable = "store_unavailable", SERVICE_UNAVAILABLE, "The store cannot be reached";
    StoreFull = "store_full", SERVICE_UNAVAILABLE, "The store has no space left";
    StoreFailed = "store_failed", SERVICE_UNAVAILABLE, "The store failed";
    OutcomeUnknown = "outcome_unknown", SERVICE_UNAVAILABLE, "It may or may not have been written";
    ShuttingDown = "shutting_down", SERVICE_UNAVAILABLE, "The server is stopping";
    Internal = "internal", INTERNAL_SERVER_ERROR, "A defect in Semel";
    CallbackAnswered = "callback_answered", CONFLICT, "Another callback came first";
    CallbackExpired = "callback_expired", GONE, "Nobody waits for this callback any more";
    Forbidden = "forbidden", FORBIDDEN, "The caller may not do this";
    CrossSite = "cross_site", FORBIDDEN, "No page of this server sent this";
    LoginRefused = "login_refused", UNAUTHORIZED, "The name or the password is wrong";
    TooManyAttempts = "too_many_attempts", TOO_MANY_REQUESTS, "There were too many wrong tries";
    PersonMissing = "person_missing", NOT_FOUND, "There is no such person";
    PersonThere = "person_there", CONFLICT, "Somebody is there already";
    LinkOver = "link_over", GONE, "The link leads nowhere any more";
}

impl Code {
    /// The code of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.name() == name)
    }
}
